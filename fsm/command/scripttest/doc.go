// Package scripttest reads the scripts that command tests are written in, and
// prints replies as they do.
//
// A script is a list of commands with the replies expected, in the form of
// redis-cli:
//
//	# SET with a time to live
//	> SET k v EX 10
//	OK
//	advance 11s
//	> GET k
//	(nil)
//
// Words are quoted as redis-cli reads them: "a\x00b" with escapes, 'a b' without.
// A command behind >~ answers in no order: the elements of its arrays of strings
// are sorted before they are compared. The other lines set the scene for what
// follows: "advance 11s" (ms, s, m, h, d) moves time, "origin http" (inside, http,
// resp, script) and "role readonly" (standard, readonly, or the name of a user) say
// where commands come from, and "redis 8.4" that the rest of the script needs at least that version of
// Redis, which matters only to the comparison with a real one.
package scripttest
