package httpapi

import (
	"context"
	"crypto/sha256"
	"net/http"

	"trireme/fsm"
	"trireme/fsm/acl"
	"trireme/httpapi/redis"
)

// errToken is the answer to a missing or wrong token. Clients look for WRONGPASS.
var errToken = &failure{http.StatusUnauthorized, notApplied, "WRONGPASS invalid or missing auth token"}

// appendCredential appends the token that a request carries: the query's wins over the
// header's, whose scheme Bearer may be left out.
func appendCredential(dst []byte, r *http.Request, query string) []byte {
	if query != "" {
		if token, found := redis.Token(dst, query); found {
			return token
		}
	}
	list := r.Header["Authorization"]
	if len(list) == 0 {
		return dst
	}
	return append(dst, bearer(list[0])...)
}

// bearer is the token of an Authorization header.
func bearer(header string) string {
	const scheme = "bearer "
	if len(header) < len(scheme) {
		return header
	}
	for i := range len(scheme) {
		if header[i]|0x20 != scheme[i] {
			return header
		}
	}
	return header[len(scheme):]
}

// authenticate finds the role of the request's token and refuses one that doesn't open
// the keyspace. This node may be behind, so a refusal is confirmed first.
func (c *call) authenticate(query string) *failure {
	c.scratch = appendCredential(c.scratch[:0], c.r, query)
	c.digest = sha256.Sum256(c.scratch)
	c.s.engine.Local(c.looking)
	if c.role.User() != nil {
		return nil
	}
	if len(c.scratch) == 0 {
		return errToken
	}
	if _, err := c.s.engine.Read(c.r.Context(), fsm.Reading{}, c.looking); err != nil {
		return failureOf(err, false)
	}
	if c.role.User() == nil {
		return errToken
	}
	return nil
}

// look learns what the request's token opens, and whose cluster this is. There is no
// cache to outlive a change of the tokens: hashing a token is cheaper than a map.
func (c *call) look(v *fsm.View) {
	tokens := v.Tokens()
	c.role = tokens.Role(c.digest)
	c.cluster = markOf(v.ClusterID())
}

// roleOf is the role of a request to a fixed path.
func (s *Server) roleOf(ctx context.Context, r *http.Request, query string) (acl.Role, error) {
	token := appendCredential(nil, r, query)
	if len(token) == 0 {
		return acl.NoRole, nil
	}
	digest, role := acl.Digest(sha256.Sum256(token)), acl.NoRole
	look := func(v *fsm.View) {
		tokens := v.Tokens()
		role = tokens.Role(digest)
	}
	if s.engine.Local(look); role != acl.NoRole {
		return role, nil
	}
	_, err := s.engine.Read(ctx, fsm.Reading{}, look)
	return role, err
}
