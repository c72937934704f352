package fsm_test

import (
	"encoding/base64"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
)

// TestDelegatedTokens: a token of a role opens that role and no other, and nothing in another cluster or once the
// role's token is replaced.
func TestDelegatedTokens(t *testing.T) {
	found := func(id, admin string) *fsm.Machine {
		m := fsm.NewMachine()
		f := fsm.Bootstrap{ClusterID: id, Level: fsm.MaxLevel}
		f.Tokens[acl.Admin], f.Tokens[acl.Messages], f.Tokens[acl.Standard] = acl.DigestOf(admin), acl.DigestOf("messages"), acl.DigestOf("standard")
		entry := fsm.Entry{Stamp: int64(len(id)), Term: 7, Seed: [16]byte{byte(len(id))}, Requests: []fsm.Request{{Code: fsm.BootstrapState.Code, Body: fsm.BootstrapState.Body(f)}}}
		if o, err := m.Apply(1, 7, entry.Encode()); err != nil || o[0].Err != nil {
			t.Fatalf("%v, %+v", err, o)
		}
		return m
	}
	role := func(m *fsm.Machine, token string) (role acl.Role, in acl.Identity) {
		b := acl.ParseBearer([]byte(token))
		m.View(0, [16]byte{}, func(v *fsm.View) { role, in = v.RoleOf(&b), v.Bearer("", &b) })
		return role, in
	}
	one := found("one", "admin")
	tokens := map[acl.Role]string{}
	one.View(0, [16]byte{}, func(v *fsm.View) {
		for r := acl.NoRole; r <= acl.Admin+1; r++ {
			token, has := v.RoleToken(r)
			if has != (r == acl.Admin || r == acl.Messages) {
				t.Errorf("role %d has a token: %v", r, has)
			}
			tokens[r] = token
		}
		if _, has := v.DelegatedToken("none", acl.DefaultName); has {
			t.Error("a token of a database that there isn't")
		}
		if _, has := v.DelegatedToken("", "nobody"); has {
			t.Error("a token of a user that there isn't")
		}
		if _, has := v.DelegatedToken("", acl.ReadOnlyName); has {
			t.Error("a token of a user without a password")
		}
		tokens[acl.Standard], _ = v.DelegatedToken("", acl.DefaultName)
	})
	if r, in := role(one, tokens[acl.Admin]); r != acl.Admin || in.By != acl.ByAdmin {
		t.Errorf("admin: %d %+v", r, in)
	}
	if r, in := role(one, tokens[acl.Messages]); r != acl.Messages || in.Known() {
		t.Errorf("messages: %d %+v", r, in)
	}
	if r, in := role(one, tokens[acl.Standard]); r != acl.NoRole || in.User != acl.DefaultName {
		t.Errorf("standard: %d %+v", r, in)
	}
	raw, err := base64.URLEncoding.DecodeString(tokens[acl.Messages])
	if err != nil {
		t.Fatal(err)
	}
	for b := range 256 { // a token that names another role
		raw[2] = byte(b)
		if r, in := role(one, base64.URLEncoding.EncodeToString(raw)); in.Known() || (r != acl.NoRole) != (acl.Role(b) == acl.Messages) {
			t.Errorf("as role %d: %d %+v", b, r, in)
		}
	}
	for what, m := range map[string]*fsm.Machine{"another cluster": found("other", "admin"), "another token": found("one", "new"), "an empty one": fsm.NewMachine()} {
		if r, in := role(m, tokens[acl.Admin]); r != acl.NoRole || in.Known() {
			t.Errorf("%s: %d %+v", what, r, in)
		}
	}
}
