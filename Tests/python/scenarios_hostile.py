
async def clients(bed, ok): pass
async def services(bed, ok): pass
async def datagrams(bed, ok): pass
