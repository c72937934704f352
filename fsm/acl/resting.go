package acl

// Resting is the users of a database that has the built-in ones only, with one token each: a few words without a pointer, from
// which NewResting makes the store again.
type Resting struct {
	key    [32]byte
	serial uint64
	tokens [2]credential
}

// Rest returns the users as they rest, false if there is more to them.
func (s *Store) Rest() (r Resting, ok bool) {
	if s.users != nil && s.users.Len() > 0 {
		return r, false
	}
	r.key, r.serial = s.key, s.serial
	for i, u := range s.builtins {
		if len(u.credentials) != 1 || u.noPass != 0 || !u.enabled {
			return r, false
		}
		r.tokens[i] = u.credentials[0]
	}
	return r, true
}

// NewResting returns the store that Rest was called of.
func NewResting(c *Catalog, r *Resting) *Store {
	s := &Store{catalog: c, key: r.key, serial: r.serial, builtins: c.builtins}
	both := new([2]struct {
		user  User
		token [1]credential
	})
	for i, u := range s.builtins {
		b := &both[i]
		b.user, b.token[0] = *u, r.tokens[i]
		b.user.credentials = b.token[:]
		b.user.size += credentialCost
		s.builtins[i] = &b.user
		s.size += b.user.size
	}
	return s
}
