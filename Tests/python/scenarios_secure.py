
async def pairing(bed, ok): pass
async def impostors(bed, ok): pass
