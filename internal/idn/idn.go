package idn

import "golang.org/x/net/idna"

// profile is the standard's "domain to ASCII", not strict: UTS #46 without transitional processing.
var profile = idna.New(
	idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.ValidateLabels(true), idna.CheckHyphens(false),
	idna.CheckJoiners(true), idna.BidiRule(), idna.VerifyDNSLength(false),
)

// ToASCII returns a host's name with its labels beyond ASCII in their xn-- form. It refuses characters that no name may have,
// and labels that only look as if they were in that form.
func ToASCII(host string) (string, error) { return profile.ToASCII(host) }
