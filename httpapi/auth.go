package httpapi

import (
	"context"
	"net/http"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/httpapi/redis"
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

// bearer returns the token of an Authorization header.
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

// authenticate finds the identity of the request's token in its database, and refuses a token that opens nothing there.
// This node may be behind, so a refusal is confirmed first.
func (c *call) authenticate() *failure {
	c.scratch = appendCredential(c.scratch[:0], c.r, c.query)
	c.bearer = acl.ParseBearer(c.scratch)
	c.s.engine.Local(c.identifyFn)
	switch {
	case len(c.scratch) == 0, c.local && !c.as.Known():
		return errToken
	case c.local: // its connection has logged in
		return nil
	case c.as.Known():
		loggedIn(c.r.Context())
		return nil
	}
	return c.confirm()
}

// confirm looks up the identity of the request's token in a state that holds everything acknowledged so far.
func (c *call) confirm() *failure {
	if _, err := c.s.engine.Read(c.r.Context(), fsm.Reading{}, c.identifyFn); err != nil {
		return failureOf(err, false)
	}
	if !c.as.Known() {
		return errToken
	}
	loggedIn(c.r.Context())
	return nil
}

// identify reads the identity of the request's token, whether it may do everything, and the cluster's id. It uses no
// cache, which could outlive a change of the tokens: hashing a token is cheaper than a map.
func (c *call) identify(v *fsm.View) {
	c.as = v.Bearer(c.db, &c.bearer)
	user := v.User(c.as)
	c.free = user != nil && user.Free()
	c.cluster = clusterTag(v.ClusterID())
	c.quota, _ = v.Quota(c.db)
}

// roleOf returns the role of a request to a fixed path.
func (s *Server) roleOf(ctx context.Context, r *http.Request, query string) (acl.Role, error) {
	return s.roleOfToken(ctx, appendCredential(nil, r, query))
}

func (s *Server) roleOfToken(ctx context.Context, token []byte) (role acl.Role, err error) {
	if role = s.localRole(token); role != acl.Admin && len(token) > 0 {
		bearer := acl.ParseBearer(token)
		_, err = s.engine.Read(ctx, fsm.Reading{}, func(v *fsm.View) { role = v.RoleOf(&bearer) })
	}
	if err == nil && role != acl.NoRole {
		loggedIn(ctx)
	}
	return role, err
}

// localRole returns the role of a token as this node knows it.
func (s *Server) localRole(token []byte) (role acl.Role) {
	if len(token) == 0 {
		return acl.NoRole
	}
	bearer := acl.ParseBearer(token)
	s.engine.Local(func(v *fsm.View) { role = v.RoleOf(&bearer) })
	return role
}
