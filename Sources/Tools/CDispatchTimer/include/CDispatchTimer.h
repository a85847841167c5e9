/// Nothing to call: see CDispatchTimer.c.
