package fsm

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// MaxTokenOverlap is the longest that a token may stay in force after its rotation, in milliseconds.
const MaxTokenOverlap = 90 * 24 * 60 * 60 * 1000

// The refusals of rotations. Nothing has changed then.
var (
	ErrTokenOverlap = &Error{Code: "token-overlap", Text: "an overlap is 0 to 90 days long"}
	ErrTokenRoles   = &Error{Code: "token-roles", Text: "a rotation is of tokens of the cluster, or of both tokens of a database"}
	ErrSameToken    = &Error{Code: "same-token", Text: "a new token differs from all others: this one is in force already"}
	ErrTokenSalt    = &Error{Code: "token-salt", Text: "the node that hashed the token had not caught up: try again"}
)

// TokenRotation replaces tokens, and keeps the former ones in force for a time.
type TokenRotation struct {
	// Database is the database whose Standard and Read Only token change; empty for tokens of the cluster.
	Database string
	// Tokens are the new ones, as they are stored under Salt; a role without one keeps its token.
	Tokens acl.Tokens
	Salt   acl.Salt
	// Overlap is the time that the former tokens stay in force, in milliseconds.
	Overlap int64
}

// Fields codes the value in its wire format.
func (tr *TokenRotation) Fields(c *wire.Codec) {
	c.String(&tr.Database)
	tr.Tokens.Fields(c)
	c.Fixed(tr.Salt[:])
	c.Varint(&tr.Overlap)
}

// TokenRole names tokens: one of the cluster's by its role, or both of a database.
type TokenRole struct {
	Database string
	Role     acl.Role
}

// Fields codes the value in its wire format.
func (tr *TokenRole) Fields(c *wire.Codec) {
	c.String(&tr.Database)
	wire.Uint(c, &tr.Role)
}

// TokenOverlap says how long former tokens are in force.
type TokenOverlap struct {
	// Until is cluster time in unix milliseconds; 0 if none is.
	Until int64
}

// Fields codes the value in its wire format.
func (to *TokenOverlap) Fields(c *wire.Codec) { c.Varint(&to.Until) }

// FormerToken is a token that was replaced and is in force until its time is over.
type FormerToken struct {
	// Database is the database that it opens; empty for a token of the cluster.
	Database string
	Role     acl.Role
	// Until is cluster time in unix milliseconds.
	Until int64
	// digest identifies a token of the cluster. Those of databases are with their users.
	digest acl.Digest
	// number is the credential's, by which identities name it; 0 where none does.
	number uint64
}

// Fields codes the value in its wire format.
func (ft *FormerToken) Fields(c *wire.Codec) {
	c.String(&ft.Database)
	wire.Uint(c, &ft.Role)
	c.Varint(&ft.Until)
	c.Fixed(ft.digest[:])
	c.Uvarint(&ft.number)
}

// formerTokens are in the order in which they end, one at most for a role. The list is replaced with every change: forks
// share it.
type formerTokens []FormerToken

// add takes one in, in its order.
func (ft formerTokens) add(n FormerToken) formerTokens {
	i, _ := slices.BinarySearchFunc(ft, n, func(a, b FormerToken) int {
		if a.Until <= b.Until {
			return -1
		}
		return 1
	})
	return slices.Insert(slices.Clone(ft), i, n)
}

// role returns the rights of a former token of the cluster. It compares all of them.
func (ft formerTokens) role(token *acl.Digest) (found acl.Role, number uint64) {
	for i := range ft {
		if ft[i].Database == "" && ft[i].digest.Equal(token) {
			found, number = ft[i].Role, ft[i].number
		}
	}
	return found, number
}

// clusterTokens are the tokens of the cluster: those in force, and those that were replaced. Tokens in force of databases belong to
// their users.
type clusterTokens struct {
	inForce     acl.Tokens
	founded     acl.Tokens   // those that the cluster was founded with last
	salt        acl.Salt     // of inForce and founded
	adminSerial uint64       // of the admin token: identities it proved name it
	former      formerTokens // with those of databases
}

// found puts the tokens in force that a cluster is founded with; those of the database default are not among them.
func (ct *clusterTokens) found(t acl.Tokens, salt acl.Salt) {
	ct.founded, ct.salt = t, salt
	t[acl.Standard], t[acl.ReadOnly] = acl.Digest{}, acl.Digest{}
	if t[acl.Admin] != ct.inForce[acl.Admin] {
		ct.adminSerial++
	}
	ct.inForce = t
}

// role returns the rights of a token, and the number of the credential if it is an admin token. A token that was replaced
// counts while it is in force.
func (ct *clusterTokens) role(token *acl.Digest) (role acl.Role, number uint64) {
	if role = ct.inForce.Role(*token); role != acl.NoRole {
		return role, ct.adminSerial
	}
	return ct.former.role(token)
}

// replace puts another token of a role in force. The former one stays in force until a time, 0 for not at all.
func (ct *clusterTokens) replace(role acl.Role, token acl.Digest, until int64) {
	former := FormerToken{Role: role, Until: until, digest: ct.inForce[role]}
	if role == acl.Admin {
		former.number = ct.adminSerial
		ct.adminSerial++
	}
	if ct.inForce[role] = token; until > 0 && former.digest != (acl.Digest{}) {
		ct.former = ct.former.add(former)
	}
}

// isAdmin reports whether an admin token of that number is in force.
func (ct *clusterTokens) isAdmin(number uint64) bool {
	for i := range ct.former {
		if ct.former[i].Role == acl.Admin && ct.former[i].number == number {
			return true
		}
	}
	return number == ct.adminSerial
}

// builtinOf is the user whose credential a token of a database is.
func builtinOf(role acl.Role) string {
	if role == acl.ReadOnly {
		return acl.ReadOnlyName
	}
	return acl.DefaultName
}

// rotateTokens puts new tokens in force. A former one of the same role that is still in force ends at once.
func (s *State) rotateTokens(e *env.Env, n TokenRotation) (TokenOverlap, error) {
	if n.Overlap < 0 || n.Overlap > MaxTokenOverlap {
		return TokenOverlap{}, ErrTokenOverlap
	}
	if n.Salt != s.tokens.salt {
		return TokenOverlap{}, ErrTokenSalt
	}
	out := TokenOverlap{}
	if n.Overlap > 0 {
		out.Until = e.Now + n.Overlap
	}
	if n.Database == "" {
		return out, s.rotateClusterTokens(&n.Tokens, out.Until)
	}
	return out, s.rotateDatabaseTokens(&n, out.Until)
}

func (s *State) rotateClusterTokens(tokens *acl.Tokens, until int64) error {
	if tokens[acl.Standard] != (acl.Digest{}) || tokens[acl.ReadOnly] != (acl.Digest{}) || *tokens == (acl.Tokens{}) {
		return ErrTokenRoles
	}
	for role := acl.Messages; int(role) < len(tokens); role++ {
		if known, _ := s.tokens.role(&tokens[role]); known != acl.NoRole {
			return ErrSameToken
		}
	}
	for role := acl.Messages; int(role) < len(tokens); role++ {
		if tokens[role] == (acl.Digest{}) {
			continue
		}
		s.endOverlap("", role)
		s.tokens.replace(role, tokens[role], until)
	}
	return nil
}

func (s *State) rotateDatabaseTokens(n *TokenRotation, until int64) error {
	d := s.lookup(n.Database)
	pair := DatabaseTokens{Standard: n.Tokens[acl.Standard], ReadOnly: n.Tokens[acl.ReadOnly]}
	rest := n.Tokens
	rest[acl.Standard], rest[acl.ReadOnly] = acl.Digest{}, acl.Digest{}
	switch {
	case d == nil:
		return ErrNoDatabase
	case rest != acl.Tokens{}:
		return ErrTokenRoles
	case !pair.usable():
		return ErrTokens
	}
	d = s.open(d)
	roles := [...]acl.Role{acl.Standard, acl.ReadOnly}
	for _, role := range roles { // a rotation sent again would end the overlap of the tokens that it replaced
		if user := builtinOf(role); d.users.HasToken(user, pair.Standard, n.Salt) || d.users.HasToken(user, pair.ReadOnly, n.Salt) {
			return ErrSameToken
		}
	}
	for _, role := range roles {
		s.endOverlap(d.name, role)
		former := d.users.RotateToken(builtinOf(role), n.Tokens[role], n.Salt, until > 0)
		if former > 0 && until > 0 {
			s.tokens.former = s.tokens.former.add(FormerToken{Database: d.name, Role: role, Until: until, number: former})
		}
	}
	return nil
}

// endTokenOverlap ends the time of former tokens before it is over.
func (s *State) endTokenOverlap(_ *env.Env, n TokenRole) (Ack, error) {
	if n.Database == "" {
		if n.Role < acl.Messages || int(n.Role) >= len(s.tokens.inForce) {
			return Ack{}, ErrTokenRoles
		}
		s.endOverlap("", n.Role)
		return Ack{}, nil
	}
	if _, found := s.databases.Get(n.Database); !found {
		return Ack{}, ErrNoDatabase
	}
	s.endOverlaps(n.Database)
	return Ack{}, nil
}

// endOverlaps ends the former tokens of a database.
func (s *State) endOverlaps(database string) {
	s.endOverlap(database, acl.Standard)
	s.endOverlap(database, acl.ReadOnly)
}

// endOverlap ends the former token of a role, if there is one.
func (s *State) endOverlap(database string, role acl.Role) {
	for i := range s.tokens.former {
		if s.tokens.former[i].Database == database && s.tokens.former[i].Role == role {
			s.dropFormer(i)
			return
		}
	}
}

// dropFormer ends a former token; identities that it proved are invalid from then on.
func (s *State) dropFormer(i int) {
	n := s.tokens.former[i]
	if n.Database != "" {
		if d := s.database(n.Database); d != nil {
			s.open(d).users.RevokeToken(builtinOf(n.Role), n.number)
		}
	}
	s.tokens.former = slices.Delete(slices.Clone(s.tokens.former), i, i+1)
}

// expireTokens ends the former tokens whose time is over.
func (s *State) expireTokens(now int64) {
	for len(s.tokens.former) > 0 && s.tokens.former[0].Until <= now {
		s.dropFormer(0)
	}
}

// FormerTokens lists the tokens that were replaced and are still in force, in the order in which they end.
func (v *View) FormerTokens() []FormerToken { return slices.Clone([]FormerToken(v.s.tokens.former)) }

// Former reports whether a token of default or of the cluster was replaced and is in force still, and until when.
func (v *View) Former(role acl.Role, token acl.Digest) (until int64, ok bool) {
	shown := acl.Presented{Digest: token}
	for _, n := range v.s.tokens.former {
		switch {
		case n.Role != role:
		case n.Database == "" && n.digest.Equal(shown.Under(&v.s.tokens.salt)),
			n.Database == DefaultDB && v.s.home.users.Proves(builtinOf(role), &shown):
			return n.Until, true
		}
	}
	return 0, false
}
