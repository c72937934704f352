package acl

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/glob"
)

// RuleError says which rule of ACL SETUSER can't be applied, and why.
type RuleError struct{ Rule, Reason string }

func (e *RuleError) Error() string { return e.Rule + ": " + e.Reason }

// The reasons, in Redis's words: people search for them.
const (
	badSyntax     = "Syntax error"
	badName       = "Unknown command or category name in ACL"
	badHash       = "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters"
	noPassword    = "The password you are trying to remove from the user does not exist"
	afterAllKeys  = "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns"
	longPattern   = "The pattern has a part of too many elements, with classes or question marks, between two stars"
	afterChannels = "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try 'resetchannels' to start with an empty list of channels"
)

// SetUser applies rules to a user, which is made if there is none: all of them or, with
// a RuleError, none. Passwords come as digests: the edge has replaced them. A user may not become larger than MaxRules and
// MaxPasswords say.
func (s *Store) SetUser(name string, rules []string) error {
	u := &User{Name: name}
	if old := s.User(name); old != nil {
		u = old.clone()
	}
	serial := s.serial
	for _, rule := range rules {
		reason := s.apply(u, rule)
		if reason == "" && adds(rule) {
			reason = u.exceeds()
		}
		if reason != "" {
			s.serial = serial
			return &RuleError{rule, reason}
		}
	}
	s.put(u)
	return nil
}

// adds reports whether a rule may make the user larger. Those that don't are never refused for its size: a user of a
// former version may have more than is allowed now.
func adds(rule string) bool { return rule != "" && strings.IndexByte("~%&+-#(", rule[0]) >= 0 }

// apply applies one rule and returns the reason if it can't.
func (s *Store) apply(u *User, rule string) string {
	if len(rule) > 1 && rule[0] == '(' && rule[len(rule)-1] == ')' {
		return s.catalog.addSelector(u, rule[1:len(rule)-1])
	}
	if rule != "" && (rule[0] == '#' || rule[0] == '!') {
		return s.applyPassword(u, rule)
	}
	switch ascii.Lower(rule) {
	case "on", "off":
		u.enabled = ascii.EqualFold(rule, "on")
	case "sanitize-payload", "skip-sanitize-payload": // what is restored is always checked
	case "nopass":
		if u.credentials = nil; u.noPass == 0 {
			u.noPass = s.next()
		}
	case "resetpass":
		u.credentials, u.noPass = nil, 0
	case "clearselectors":
		u.more, u.inMore = nil, 0
	case "reset":
		*u = User{Name: u.Name}
	default:
		return s.catalog.applyTo(&u.root, rule)
	}
	return ""
}

// next is the number of a new credential.
func (s *Store) next() uint64 {
	s.serial++
	return s.serial
}

// applyPassword adds or removes the password of a digest in hexadecimal.
func (s *Store) applyPassword(u *User, rule string) string {
	d, ok := ParseDigest(rule[1:])
	if !ok {
		return badHash
	}
	i := slices.IndexFunc(u.credentials, func(c credential) bool { return c.digest == d })
	switch {
	case rule[0] == '!' && i < 0:
		return noPassword
	case rule[0] == '!':
		u.credentials = slices.Delete(u.credentials, i, i+1)
	default:
		if i < 0 {
			u.credentials = append(u.credentials, credential{digest: d, number: s.next()})
		}
		u.noPass = 0
	}
	return ""
}

// ParseDigest reads a digest in lower-case hexadecimal.
func ParseDigest(text string) (d Digest, ok bool) {
	if len(text) != 2*len(d) || ascii.Lower(text) != text {
		return d, false
	}
	_, err := hex.Decode(d[:], []byte(text))
	return d, err == nil
}

// Hex is the digest in lower-case hexadecimal.
func (d Digest) Hex() string { return hex.EncodeToString(d[:]) }

// addSelector gives the user one more selector, made of the rules in text.
func (c *Catalog) addSelector(u *User, text string) string {
	var s selector
	for _, rule := range ascii.Fields(text) {
		if reason := c.applyTo(&s, rule); reason != "" {
			return reason
		}
	}
	u.more = append(u.more, s)
	u.inMore += 1 + s.count()
	return ""
}

// applyTo applies a rule about keys, channels or commands.
func (c *Catalog) applyTo(s *selector, rule string) string {
	switch ascii.Lower(rule) {
	case "":
		return ""
	case "allkeys", "~*":
		s.setKeys(true)
		return ""
	case "resetkeys":
		s.setKeys(false)
		return ""
	case "allchannels", "&*":
		s.setChannels(true)
		return ""
	case "resetchannels":
		s.setChannels(false)
		return ""
	case "allcommands", "+@all":
		s.setCommands(true)
		return ""
	case "nocommands", "-@all":
		s.setCommands(false)
		return ""
	}
	switch rule[0] {
	case '~', '%':
		return s.addKeys(rule)
	case '&':
		return s.addChannels(rule[1:])
	case '+', '-':
		return c.addCommands(s, ascii.Lower(rule))
	}
	return badSyntax
}

// blank holds the bytes that a pattern can't contain: rules are shown separated by spaces.
const blank = " \t\r\n\v\f\x00"

// addKeys adds a key pattern: "~a*", or "%R~a*" for one access.
func (s *selector) addKeys(rule string) string {
	k := keyPattern{access: ReadKey | WriteKey, pattern: rule[1:]}
	if s.allKeys {
		return afterAllKeys
	}
	if rule[0] == '%' {
		letters, pattern, found := strings.Cut(rule[1:], "~")
		if !found || letters == "" {
			return badSyntax
		}
		k.pattern, k.access = pattern, 0
		for i := range len(letters) {
			switch letters[i] {
			case 'r', 'R':
				k.access |= ReadKey
			case 'w', 'W':
				k.access |= WriteKey
			default:
				return badSyntax
			}
		}
	}
	switch {
	case strings.ContainsAny(k.pattern, blank):
		return badSyntax
	case glob.Costly(k.pattern):
		return longPattern
	}
	s.putKey(k)
	return ""
}

func (s *selector) addChannels(pattern string) string {
	switch {
	case s.allChannels:
		return afterChannels
	case strings.ContainsAny(pattern, blank):
		return badSyntax
	case glob.Costly(pattern):
		return longPattern
	}
	s.putChannel(pattern)
	return ""
}

// addCommands adds a rule about a command or a category.
func (c *Catalog) addCommands(s *selector, rule string) string {
	if category, ok := strings.CutPrefix(rule[1:], "@"); ok {
		if CategoryNamed(category) == 0 {
			return badName
		}
	} else if len(c.named(rule[1:])) == 0 {
		return badName
	}
	c.addRule(s, rule)
	return ""
}

// ValidUserName reports whether a user may have that name: it must fit into tokens.
func ValidUserName(name string) bool {
	return len(name) <= maxUserName && !strings.ContainsAny(name, blank)
}
