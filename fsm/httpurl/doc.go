// Package httpurl reads the URLs of destinations and escapes what a URL may not hold, as the parser of the WHATWG URL
// Standard does for http and https.
//
// Read is the only constructor of a destination that is stored: the HTTP API and MSG commands call it where they read one.
// What is stored is therefore what goes over the wire, what signatures name and what events show. Go's net/url judges
// otherwise: it refuses a lone percent sign, and escapes a whole path again because of one character that it would have
// escaped itself, which turns %2F into a slash.
//
// Whatever a URL may hold stays as it was given, because clients compare the URL that they gave with the one that they are
// shown: the case of letters, a port that is the scheme's own, an empty path, segments of dots. Of a host that no resolver
// knows in the form given (international, escaped, an IPv4 address in other numbers) the standard's form is stored. What no
// connection can be made to is refused: port 0, an empty host, names that no resolver asks for, zones.
//
// Invariants: Read of what Read returned returns the same. It needs no tables of Unicode, which differ between builds: a
// host beyond ASCII, or with a label of punycode, is given to the caller's ToASCII. A state machine has none, so its
// commands refuse hosts beyond ASCII.
package httpurl
