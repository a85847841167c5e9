def recorded():pass
mistakes=middle=pieces=hostile=recorded
