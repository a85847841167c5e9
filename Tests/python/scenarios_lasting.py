
async def reconnection(bed, ok): pass
async def heartbeat(bed, ok): pass
async def slow(bed, ok): pass
async def crowd(bed, ok): pass
