package acl

// credential is a secret that proves its user: the digest of a password or token, and
// the number by which identities name it. Tokens have a salt; passwords have none, because
// ACL GETUSER and ACL SETUSER show and take the plain digest (docs/design/credentials.md).
type credential struct {
	digest Digest
	number uint64
	salt   Salt
}

// User is on whose behalf commands run. Users are replaced, never changed in place:
// readers and forks share them.
type User struct {
	Name    string
	enabled bool
	// noPass, if not 0, is the number of the credential that any password stands for.
	noPass      uint64
	credentials []credential
	root        selector
	more        []selector
	free        bool // everything is open, without a look at the rules

	inMore int       // selectors in more, and what they have
	price  walkPrice // of checking a name, with all selectors
	size   int64     // see footprint
}

// Default may do everything: it stands for the process in tests of single commands.
var Default = &User{Name: DefaultName, enabled: true, free: true, root: everything()}

func everything() selector { return selector{all: true, allKeys: true, allChannels: true} }

// Enabled reports whether the user may log in.
func (u *User) Enabled() bool { return u.enabled }

// Builtin reports whether the user is one of those that every database has and nobody
// can change but by resetting the database's tokens.
func (u *User) Builtin() bool { return builtin(u.Name) }

func builtin(name string) bool { return name == DefaultName || name == ReadOnlyName }

// clone is a copy to change before it replaces u.
func (u *User) clone() *User {
	c := *u
	c.credentials = append([]credential(nil), u.credentials...)
	c.root = u.root.clone()
	c.more = nil
	for i := range u.more {
		c.more = append(c.more, u.more[i].clone())
	}
	return &c
}

// userCost is the logical memory of a user in bytes, without its texts.
const userCost = 256

// compile finds what the rules come to, and what they cost.
func (u *User) compile(c *Catalog) {
	u.inMore, u.price = 0, walkPrice{}
	for i := range u.selectors() {
		s := u.selector(i)
		s.compile(c)
		u.price.add(s.price())
		if i > 0 {
			u.inMore += 1 + s.count()
			u.price.name += lookupPrice
		}
	}
	u.size = u.footprint()
}

// lookupPrice is the price that each further selector adds to checking a name, in 1/64 of a step.
const lookupPrice = 64

// holds reports whether the user has the credential of that number and is enabled.
func (u *User) holds(number uint64) bool {
	if !u.enabled || number == 0 {
		return false
	}
	for i := range u.credentials {
		if u.credentials[i].number == number {
			return true
		}
	}
	return u.noPass == number
}

// prove is the number of the credential that a password matches, 0 if none.
// Every credential is compared, in constant time.
func (u *User) prove(password *Presented) (number uint64) {
	if !u.enabled {
		return 0
	}
	number = u.noPass
	for i := range u.credentials {
		if c := &u.credentials[i]; c.digest.equal(password.Under(&c.salt)) {
			number = u.credentials[i].number
		}
	}
	return number
}

// Key is a key that a command names and what it does with it.
type Key struct {
	Name   string
	Access Access
}

// Call describes a call whose permission is to be checked.
type Call struct {
	// Command is the number of the command in the catalog.
	Command  int
	Keys     []Key
	Channels []string
	// Patterns says that Channels are patterns to subscribe to.
	Patterns bool
}

// Denied says what a user may not do.
type Denied uint8

// The denials. A later one got further: the first selector that opened the command
// decides what is said.
const (
	Permitted Denied = iota
	DeniedCommand
	DeniedKey
	DeniedChannel
)

// Free reports whether the user may do everything, so that nothing need be looked up.
func (u *User) Free() bool { return u.free }

// Permit reports whether the user may make the call, or what stands against it and the
// key or channel in question.
func (u *User) Permit(call *Call) (Denied, string) {
	if u.free {
		return Permitted, ""
	}
	worst, name := u.root.permit(call)
	for i := 0; i < len(u.more) && worst != Permitted; i++ {
		if d, n := u.more[i].permit(call); d == Permitted || d > worst {
			worst, name = d, n
		}
	}
	return worst, name
}

// ReadsAllKeys reports whether one selector of the user opens both the call and reading
// every key: commands that find the names of keys while they run need that.
func (u *User) ReadsAllKeys(call *Call) bool {
	if u.free || u.root.readsAllKeys() && u.root.permits(call) {
		return true
	}
	for i := range u.more {
		if u.more[i].readsAllKeys() && u.more[i].permits(call) {
			return true
		}
	}
	return false
}

// ReadsPrefix reports whether one selector of the user opens both the call and reading every key that begins with prefix.
func (u *User) ReadsPrefix(call *Call, prefix string) bool {
	if u.free || u.root.readsPrefix(prefix) && u.root.permits(call) {
		return true
	}
	for i := range u.more {
		if u.more[i].readsPrefix(prefix) && u.more[i].permits(call) {
			return true
		}
	}
	return false
}

func (s *selector) permits(call *Call) bool {
	denied, _ := s.permit(call)
	return denied == Permitted
}

func (s *selector) permit(call *Call) (Denied, string) {
	if !s.opens(call.Command) {
		return DeniedCommand, ""
	}
	for _, k := range call.Keys {
		if !s.allowsKey(k.Name, k.Access) {
			return DeniedKey, k.Name
		}
	}
	for _, channel := range call.Channels {
		if !s.allowsChannel(channel, call.Patterns) {
			return DeniedChannel, channel
		}
	}
	return Permitted, ""
}

// Subscribes reports whether the user may subscribe to a channel, or to a pattern of
// channels.
func (u *User) Subscribes(name string, pattern bool) bool {
	if u.free || u.root.allowsChannel(name, pattern) {
		return true
	}
	for i := range u.more {
		if u.more[i].allowsChannel(name, pattern) {
			return true
		}
	}
	return false
}
