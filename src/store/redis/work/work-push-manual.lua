-- Appends entries to the manual list and wakes the workers.
-- KEYS: 1 manual
-- ARGV: 1 channel of the type's work, 2.. entries
-- Atomic so that the woken workers find the entries.
redis.call('RPUSH', KEYS[1], unpack(ARGV, 2))
signal_work(ARGV[1])
return 1
