package acl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Store is the users of one database, in the order of their names.
type Store struct {
	catalog  *Catalog
	key      [32]byte                  // of REST tokens; see SetKey
	serial   uint64                    // number of the newest credential
	builtins [2]*User                  // in the order of their names
	users    *cow.BTree[string, *User] // the others, nil before the first
	size     int64                     // of all users, see Size
}

// NewStore returns a store with the built-in users, still without credentials.
// Credentials are numbered from after on.
func NewStore(c *Catalog, after uint64) *Store {
	s := &Store{catalog: c, serial: after, builtins: c.builtins}
	for _, u := range s.builtins {
		s.size += u.size
	}
	return s
}

// newBuiltins makes the built-in users, without credentials. All databases share their rules.
func newBuiltins(c *Catalog) (both [2]*User) {
	both[0] = &User{Name: DefaultName, enabled: true, root: everything()}
	both[1] = &User{Name: ReadOnlyName, enabled: true, root: selector{allKeys: true, allChannels: true, rules: []string{"+@readonly"}}}
	for _, u := range both {
		u.prepare(c)
	}
	return both
}

// Fork is the store as it is now; both sides may go on.
func (s *Store) Fork() *Store {
	f := *s
	if s.users != nil {
		f.users = s.users.Snapshot()
	}
	return &f
}

// Renumber adds to the numbers of all credentials, so that none is one that was given elsewhere: what was proved there
// proves nothing here.
func (s *Store) Renumber(by uint64) {
	s.serial += by
	for _, old := range s.Users() {
		u := *old
		u.credentials = slices.Clone(old.credentials)
		if u.noPass != 0 {
			u.noPass += by
		}
		for i := range u.credentials {
			u.credentials[i].number += by
		}
		s.store(&u)
	}
}

// Serial is the number of the newest credential.
func (s *Store) Serial() uint64 { return s.serial }

// User is the user of a name, nil if there is none.
func (s *Store) User(name string) *User {
	for _, u := range s.builtins {
		if u.Name == name {
			return u
		}
	}
	if s.users == nil {
		return nil
	}
	u, _ := s.users.Get(name)
	return u
}

// Len is the number of users.
func (s *Store) Len() int {
	if s.users == nil {
		return len(s.builtins)
	}
	return len(s.builtins) + s.users.Len()
}

// Users are all users in the order of their names.
func (s *Store) Users() []*User {
	list := make([]*User, 0, s.Len())
	rest := s.builtins[:]
	if s.users != nil {
		s.users.All(func(name string, u *User) bool {
			for len(rest) > 0 && rest[0].Name < name {
				list, rest = append(list, rest[0]), rest[1:]
			}
			list = append(list, u)
			return true
		})
	}
	return append(list, rest...)
}

// put compiles u and takes it in, in place of the user of its name.
func (s *Store) put(u *User) {
	u.prepare(s.catalog)
	s.store(u)
}

// prepare finds what the user may do.
func (u *User) prepare(c *Catalog) {
	u.compile(c)
	u.free = u.root.all && len(u.root.rules) == 0 && u.root.allKeys && u.root.allChannels
}

// store takes in a user that is compiled.
func (s *Store) store(u *User) {
	if old := s.User(u.Name); old != nil {
		s.size -= old.size
	}
	s.size += u.size
	for i, old := range s.builtins {
		if old.Name == u.Name {
			s.builtins[i] = u
			return
		}
	}
	if s.users == nil {
		s.users = cow.NewBTree[string, *User](nil, strings.Compare)
	}
	s.users.Set(u.Name, u)
}

// setCredentials gives a built-in user other credentials. What it may do stays as it is, so the new user shares it with the old.
func (s *Store) setCredentials(old *User, credentials []credential) {
	u := *old
	u.credentials = credentials
	u.size += credentialCost * int64(len(credentials)-len(old.credentials))
	s.store(&u)
}

// Delete removes a user and reports whether there was one to remove.
func (s *Store) Delete(name string) bool {
	u := s.User(name)
	if u == nil || builtin(name) {
		return false
	}
	s.size -= u.size
	return s.users.Delete(name)
}

// SetToken makes a digest, stored under salt, the only credential of a built-in user; zero
// leaves it none. Identities that the old one proved are invalid from then on.
func (s *Store) SetToken(user string, token Digest, salt Salt) {
	old := s.User(user)
	if len(old.credentials) == 1 && old.credentials[0].digest == token && old.credentials[0].salt == salt {
		return
	}
	var credentials []credential
	if token != (Digest{}) {
		s.serial++
		credentials = []credential{{token, s.serial, salt}}
	}
	s.setCredentials(old, credentials)
}

// RotateToken makes a digest the first credential of a built-in user. With keep the token that it had stays a credential,
// after it, and its number is returned; otherwise it is none any more.
func (s *Store) RotateToken(user string, token Digest, salt Salt, keep bool) (former uint64) {
	old := s.User(user)
	s.serial++
	next := []credential{{token, s.serial, salt}}
	if len(old.credentials) > 0 && keep {
		next = append(next, old.credentials[0])
		former = old.credentials[0].number
	}
	s.setCredentials(old, next)
	return former
}

// HasToken reports whether a digest, stored under salt, is a credential of a user, the first or another.
func (s *Store) HasToken(user string, token Digest, salt Salt) bool {
	return slices.ContainsFunc(s.User(user).credentials, func(c credential) bool { return c.digest == token && c.salt == salt })
}

// RevokeToken takes the credential of a number from a built-in user, if it is there: identities that it proved are invalid from then on.
func (s *Store) RevokeToken(user string, number uint64) {
	old := s.User(user)
	s.setCredentials(old, slices.DeleteFunc(slices.Clone(old.credentials), func(c credential) bool { return c.number == number }))
}

// Proves reports whether token is a credential of a user, the first or another.
func (s *Store) Proves(user string, token *Presented) bool {
	return s.User(user).prove(token) != 0
}

// Holds reports whether token is that of a built-in user, not a former one; the zero digest stands for none.
func (s *Store) Holds(user string, token *Presented) bool {
	u := s.User(user)
	if len(u.credentials) == 0 {
		return token.Digest == Digest{}
	}
	c := &u.credentials[0]
	return c.digest.equal(token.Under(&c.salt))
}

// Resolve is the user that an identity still stands for, nil if what proved it is
// revoked.
func (s *Store) Resolve(i *Identity) *User {
	u := s.User(i.User)
	if u == nil || (i.By == ByCredential && !u.holds(i.Credential)) {
		return nil
	}
	return u
}

// Authenticate is the number of the credential that a user's password matches, 0 if
// the user is unknown, disabled, or has another one.
func (s *Store) Authenticate(user string, password Digest) uint64 {
	u := s.User(user)
	if u == nil {
		return 0
	}
	return u.prove(&Presented{Digest: password})
}

// Size is the logical memory of the users in bytes.
func (s *Store) Size() int64 { return s.size }

// ErrUser says that a snapshot's user is not one that Save wrote, or is out of order.
var ErrUser = errors.New("acl: malformed user")

// Save gives every user as one record to emit, in the order of their names.
func (s *Store) Save(emit func(record []byte) error) error {
	for _, u := range s.Users() {
		var w wire.Writer
		w.Put(u)
		if err := emit(w.B); err != nil {
			return fmt.Errorf("saving a user: %w", err)
		}
	}
	return nil
}

// Load takes in the next record of Save, whose name must come after that of the record
// before it, and returns that name. Of a built-in user only the credentials count: what
// it may do follows from the binary.
func (s *Store) Load(record []byte, after string) (name string, err error) {
	u, err := decodeUser(record)
	if err != nil {
		return "", err
	}
	if u.Name <= after {
		return "", fmt.Errorf("%w: %.40q is out of order", ErrUser, u.Name)
	}
	if u.Builtin() {
		s.setCredentials(s.User(u.Name), u.credentials)
	} else {
		s.put(u)
	}
	return u.Name, nil
}
