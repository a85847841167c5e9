
async def units(bed, ok): pass
async def package(bed, ok): pass
