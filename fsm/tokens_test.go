package fsm_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/env"
)

// TestTokensHaveASalt founds a cluster whose database has tokens without salt, as version 0.1.0 left them, and another: every token opens
// what it opened before, also in what a snapshot restores, and no plain digest is kept but those of databases whose tokens
// were not reset since.
func TestTokensHaveASalt(t *testing.T) {
	var index uint64
	apply := func(m *fsm.Machine, code uint16, body []byte) {
		t.Helper()
		index++
		entry := fsm.Entry{Stamp: 1000, Term: 7, Requests: []fsm.Request{{Code: code, Body: body}}}
		if o, err := m.Apply(index, 7, entry.Encode()); err != nil || o[0].Err != nil {
			t.Fatalf("%v, %+v", err, o)
		}
	}
	words := map[acl.Role]string{acl.Standard: "standard", acl.ReadOnly: "read-only", acl.Messages: "messages", acl.MessagesReadOnly: "reader", acl.Admin: "admin"}
	var plain acl.Tokens
	for role, word := range words {
		plain[role] = acl.DigestOf(word)
	}
	opens := func(m *fsm.Machine, db, token string) (as acl.Identity) {
		b := acl.ParseBearer([]byte(token))
		m.View(0, [16]byte{}, func(v *fsm.View) { as = v.Bearer(db, &b) })
		return as
	}
	check := func(m *fsm.Machine, plainOnes ...string) {
		t.Helper()
		var snapshot bytes.Buffer
		if err := m.Fork().Write(&snapshot); err != nil {
			t.Fatal(err)
		}
		restored := fsm.NewMachine()
		if err := restored.Restore(bytes.NewReader(snapshot.Bytes())); err != nil {
			t.Fatal(err)
		}
		for _, m := range []*fsm.Machine{m, restored} {
			m.View(0, [16]byte{}, func(v *fsm.View) {
				for role, word := range words {
					if got := v.Role(acl.DigestOf(word)); got != role || !v.Holds(role, acl.DigestOf(word)) || v.Holds(role, acl.Digest{}) {
						t.Errorf("%s opens %d", word, got)
					}
				}
				if v.Role(acl.DigestOf("other")) != acl.NoRole || v.Holds(acl.Admin, acl.DigestOf("other")) || v.Role(acl.Digest{}) != acl.NoRole {
					t.Error("another token opens something")
				}
				if !v.FoundedWith(plain) || !v.HoldsAll(plain) {
					t.Error("the tokens of founding are not known again")
				}
				if got := v.Authenticate("", acl.DefaultName, plain[acl.Standard]); got.User != acl.DefaultName {
					t.Errorf("as a password: %+v", got)
				}
			})
			if opens(m, "", "standard").User != acl.DefaultName || opens(m, "", "admin").By != acl.ByAdmin || opens(m, "shop", "s").User != acl.DefaultName || opens(m, "shop", "r").User != acl.ReadOnlyName || opens(m, "shop", "standard").Known() {
				t.Error("a bearer token opens something else")
			}
		}
		// A snapshot is compressed, so what is kept is asked for as an administrator sees it.
		m.View(0, [16]byte{}, func(v *fsm.View) {
			for token, u := range map[string]acl.Identity{
				"standard": {By: acl.ByProcess, User: acl.DefaultName}, "read-only": {By: acl.ByProcess, User: acl.ReadOnlyName},
				"s": {DB: "shop", By: acl.ByProcess, User: acl.DefaultName}, "r": {DB: "shop", By: acl.ByProcess, User: acl.ReadOnlyName},
			} {
				line := v.User(u).Line()
				if plain := strings.Contains(line, "#"+acl.DigestOf(token).Hex()); plain != slices.Contains(plainOnes, token) || !strings.Contains(line, "#") {
					t.Errorf("the plain digest of %q is kept: %v", token, plain)
				}
			}
		})
	}
	shop := func(salt acl.Salt) fsm.DatabaseTokens {
		return fsm.DatabaseTokens{Name: "shop", Standard: acl.DigestOf("s").Salted(salt), ReadOnly: acl.DigestOf("r").Salted(salt), Salt: salt}
	}

	old := fsm.NewMachine()
	apply(old, fsm.BootstrapState.Code, fsm.BootstrapState.Body(fsm.Bootstrap{ClusterID: "old", Tokens: plain, Level: env.Base}))
	apply(old, fsm.CreateDatabase.Code, fsm.CreateDatabase.Body(shop(acl.Salt{})))
	check(old, "standard", "read-only", "s", "r")
	var rest string
	old.View(0, [16]byte{}, func(v *fsm.View) { rest, _ = v.RESTToken("", acl.DefaultName, plain[acl.Standard]) })
	if opens(old, "", rest).User != acl.DefaultName {
		t.Error("a REST token of a token without salt opens nothing")
	}
	apply(old, fsm.ResetTokens.Code, fsm.ResetTokens.Body(shop(acl.SaltOf("old"))))
	check(old, "standard", "read-only")

	index = 0
	fresh, f := fsm.NewMachine(), fsm.Bootstrap{ClusterID: "new", Tokens: plain, Level: env.Base}
	fresh.View(0, [16]byte{}, func(v *fsm.View) { v.SaltTokens(&f) })
	if f.Tokens == plain {
		t.Error("the log gets plain digests")
	}
	apply(fresh, fsm.BootstrapState.Code, fsm.BootstrapState.Body(f))
	fresh.View(0, [16]byte{}, func(v *fsm.View) {
		if v.TokenSalt() != acl.SaltOf("new") {
			t.Error("new tokens get another salt")
		}
		rest, _ = v.RESTToken("", acl.DefaultName, plain[acl.Standard])
	})
	apply(fresh, fsm.CreateDatabase.Code, fsm.CreateDatabase.Body(shop(acl.SaltOf("new"))))
	check(fresh)
	if opens(fresh, "", rest).User != acl.DefaultName {
		t.Error("a REST token of the salted token opens nothing")
	}
}
