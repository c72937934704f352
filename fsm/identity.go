package fsm

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/acl"
)

// Bearer returns the identity of a token in a database (empty: default): Nobody
// if there is no such database or the token opens nothing there. The admin token
// opens every database.
func (v *View) Bearer(db string, t *acl.Bearer) acl.Identity {
	d := v.s.database(db)
	if d == nil {
		return acl.Identity{}
	}
	if role, number := v.s.bearerRole(t); role == acl.Admin {
		return acl.Identity{DB: d.key(), By: acl.ByAdmin, User: acl.DefaultName, Credential: number}
	}
	return d.identity(d.users.Bearer(t))
}

// Authenticate returns the identity of a user's name and password in a database (empty:
// default): Nobody if they don't match.
func (v *View) Authenticate(db, user string, password acl.Digest) acl.Identity {
	d := v.s.database(db)
	if d == nil {
		return acl.Identity{}
	}
	return d.identity(user, d.users.Authenticate(user, password))
}

// Login is Authenticate where the name chooses the database, as over RESP: database/user is
// a user of that database, any other name a user of default. A token that is given as the
// password of a built-in user without a database is that of whichever database it opens:
// tokens are drawn, so no two are equal, and no owner of a database can set one.
func (v *View) Login(user string, password acl.Digest) acl.Identity {
	if db, name, named := strings.Cut(user, "/"); named && v.s.database(db) != nil && db != "" {
		return v.Authenticate(db, name, password)
	}
	found := v.Authenticate(DefaultDB, user, password)
	if user != acl.DefaultName && user != acl.ReadOnlyName {
		return found
	}
	for _, name := range v.s.logins.find(v.s.logins.stored(&acl.Presented{Digest: password})) {
		if !found.Known() {
			found = v.Authenticate(name, user, password)
		}
	}
	return found
}

// LoginBearer is Bearer where the credential chooses the database, like Login.
func (v *View) LoginBearer(t *acl.Bearer) acl.Identity {
	found := v.Bearer(DefaultDB, t)
	if found.Known() {
		return found
	}
	digests := v.s.logins.stored(&t.Presented)
	proof, named := t.NamesUser()
	if proof != (acl.Digest{}) {
		digests = append(digests, proof)
	}
	for _, name := range v.s.logins.find(digests) {
		if !found.Known() {
			found = v.Bearer(name, t)
		}
	}
	for d := v.s.first(has(hasUsers)); named && d != nil && !found.Known(); d = v.s.after(d, has(hasUsers)) {
		found = v.Bearer(d.name, t)
	}
	return found
}

// Authorized reports whether an identity is still valid: its database and its
// user exist, and what proved it was not revoked.
func (v *View) Authorized(as acl.Identity) bool {
	_, user := v.s.resolve(&as)
	return user != nil
}

// User returns the user of an identity, nil if the identity is no longer valid.
func (v *View) User(as acl.Identity) *acl.User {
	_, user := v.s.resolve(&as)
	return user
}

// key returns the name of the database in identities: empty for the most common one.
func (d *database) key() string {
	if d.name == DefaultDB {
		return ""
	}
	return d.name
}

func (d *database) identity(user string, credential uint64) acl.Identity {
	if credential == 0 {
		return acl.Identity{}
	}
	return acl.Identity{DB: d.key(), By: acl.ByCredential, User: user, Credential: credential}
}

// Role returns the rights of a token in the cluster and in the database default.
func (v *View) Role(token acl.Digest) acl.Role {
	shown := acl.Presented{Digest: token}
	switch role, _ := v.s.tokens.role(shown.Under(&v.s.tokens.salt)); {
	case role != acl.NoRole || token == acl.Digest{}:
		return role
	case v.s.home.users.Proves(acl.DefaultName, &shown):
		return acl.Standard
	case v.s.home.users.Proves(acl.ReadOnlyName, &shown):
		return acl.ReadOnly
	}
	return acl.NoRole
}

// RoleOf is Role for a token of any kind.
func (v *View) RoleOf(t *acl.Bearer) acl.Role {
	if role, _ := v.s.bearerRole(t); role != acl.NoRole {
		return role
	}
	return v.Role(t.Digest)
}

// bearerRole is clusterTokens.role for a token of any kind.
func (s *State) bearerRole(t *acl.Bearer) (role acl.Role, number uint64) {
	role = t.DelegatedRole()
	if role == acl.NoRole {
		return s.tokens.role(t.Under(&s.tokens.salt))
	}
	if !hasRoleTokens(role) || s.tokens.inForce[role] == (acl.Digest{}) || !t.ProvesRole(s.derive(roleTokens), &s.tokens.inForce[role]) {
		return acl.NoRole, 0
	}
	return role, s.tokens.adminSerial
}

// Holds reports whether the token in force for a role has that digest; the zero digest
// stands for none.
func (v *View) Holds(role acl.Role, token acl.Digest) bool {
	shown := acl.Presented{Digest: token}
	switch role {
	case acl.Standard:
		return v.s.home.users.Holds(acl.DefaultName, &shown)
	case acl.ReadOnly:
		return v.s.home.users.Holds(acl.ReadOnlyName, &shown)
	}
	return v.s.tokens.inForce[role] == *shown.Under(&v.s.tokens.salt)
}

// HoldsAll is Holds for every role.
func (v *View) HoldsAll(tokens acl.Tokens) bool {
	for role := acl.Standard; int(role) < len(tokens); role++ {
		if !v.Holds(role, tokens[role]) {
			return false
		}
	}
	return true
}

// FoundedWith reports whether those are the digests of the tokens that the cluster was
// founded with last; those in force may have been reset since.
func (v *View) FoundedWith(tokens acl.Tokens) bool {
	return v.s.tokens.founded == tokens.Salted(v.s.tokens.salt)
}

// SaltTokens puts the cluster's salt into the tokens that it is founded with, or takes over again.
func (v *View) SaltTokens(f *Bootstrap) {
	f.Salt = v.s.tokens.salt
	if v.s.clusterID == "" {
		f.Salt = acl.SaltOf(f.ClusterID)
	}
	f.Tokens = f.Tokens.Salted(f.Salt)
}

// TokenSalt returns the salt for new tokens.
func (v *View) TokenSalt() acl.Salt { return v.s.tokens.salt }

// Databases describes every database, in the order of their names.
func (v *View) Databases() []DatabaseInfo {
	list, _ := v.DatabasesAfter("", v.s.databases.Len())
	return list
}

// DatabasesAfter describes at most limit databases, in the order of their names, of those behind a name, and reports whether
// there are more.
func (v *View) DatabasesAfter(name string, limit int) (list []DatabaseInfo, more bool) {
	list = make([]DatabaseInfo, 0, min(limit, v.s.databases.Len()))
	d := v.s.from(name, false, nil)
	for ; d != nil && len(list) < limit; d = v.s.after(d, nil) {
		list = append(list, d.info())
	}
	return list, d != nil
}

// LargestDatabases describes the databases that take most memory, at most limit of them, the largest first and those of one
// size by name. It looks at every database.
func (v *View) LargestDatabases(limit int) (list []DatabaseInfo) {
	for d := v.s.from("", false, nil); d != nil; d = v.s.after(d, nil) {
		one := d.info()
		at, _ := slices.BinarySearchFunc(list, one, func(a, b DatabaseInfo) int {
			return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
		})
		if at < limit {
			list = slices.Insert(list, at, one)
			list = list[:min(len(list), limit)]
		}
	}
	return list
}

// HasDatabase reports whether there is a database of that name.
func (v *View) HasDatabase(name string) bool { return v.s.database(name) != nil }

// DatabasesWithRuns are the names of the databases that have workflow runs and are not in quarantine, in their order.
func (v *View) DatabasesWithRuns() (names []string) {
	for d := v.s.first(has(hasRuns)); d != nil; d = v.s.after(d, has(hasRuns)) {
		names = append(names, d.name)
	}
	return names
}
