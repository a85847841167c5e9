
async def found(bed, ok): pass
async def found_here(bed, ok): pass
