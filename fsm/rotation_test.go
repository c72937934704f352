package fsm_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/env"
)

// rotating is a machine whose tokens are rotated, by entries with times of the test's.
type rotating struct {
	*testing.T
	m     *fsm.Machine
	index uint64
	salt  acl.Salt
}

func newRotating(t *testing.T) *rotating {
	r := &rotating{T: t, m: fsm.NewMachine(), salt: acl.SaltOf("c")}
	var tokens acl.Tokens
	for role, word := range map[acl.Role]string{acl.Standard: "s0", acl.ReadOnly: "r0", acl.Messages: "m0", acl.Admin: "a0"} {
		tokens[role] = acl.DigestOf(word)
	}
	r.must(1000, fsm.BootstrapState.Code, fsm.BootstrapState.Body(fsm.Bootstrap{ClusterID: "c", Level: env.Base, Tokens: tokens.Salted(r.salt), Salt: r.salt}))
	return r
}

// apply applies one request at a time; the time of a restored machine goes on.
func (r *rotating) apply(now int64, code uint16, body []byte) fsm.Outcome {
	r.Helper()
	r.index++
	entry := fsm.Entry{Stamp: now, Term: 1, Requests: []fsm.Request{{Code: code, Body: body}}}
	o, err := r.m.Apply(r.index, 1, entry.Encode())
	if err != nil {
		r.Fatal(err)
	}
	return o[0]
}

func (r *rotating) must(now int64, code uint16, body []byte) {
	r.Helper()
	if o := r.apply(now, code, body); o.Err != nil || o.Status != fsm.Applied {
		r.Fatalf("%+v", o)
	}
}

func (r *rotating) tokens(words map[acl.Role]string) (all acl.Tokens) {
	for role, word := range words {
		all[role] = acl.DigestOf(word).Salted(r.salt)
	}
	return all
}

func (r *rotating) rotate(now, overlap int64, db string, words map[acl.Role]string) error {
	r.Helper()
	return r.apply(now, fsm.RotateTokens.Code, fsm.RotateTokens.Body(fsm.TokenRotation{Database: db, Tokens: r.tokens(words), Salt: r.salt, Overlap: overlap})).Err
}

// opens asserts what each token opens, in the machine and in one made of its snapshot, which goes on in its place.
func (r *rotating) opens(now int64, want map[string]acl.Role) {
	r.Helper()
	r.must(now, fsm.Advance.Code, fsm.Advance.Body(fsm.AdvanceLimit{}))
	var snapshot bytes.Buffer
	if err := r.m.Fork().Write(&snapshot); err != nil {
		r.Fatal(err)
	}
	restored := fsm.NewMachine()
	if err := restored.Restore(&snapshot); err != nil {
		r.Fatal(err)
	}
	for _, m := range []*fsm.Machine{r.m, restored} {
		m.View(0, [16]byte{}, func(v *fsm.View) {
			for word, role := range want {
				b := acl.ParseBearer([]byte(word))
				as := v.Bearer("", &b)
				if got := v.Role(acl.DigestOf(word)); got != role {
					r.Errorf("at %d %s opens %d, want %d", now, word, got, role)
				}
				if data := role == acl.Standard || role == acl.ReadOnly || role == acl.Admin; as.Known() != data || v.Authorized(as) != data {
					r.Errorf("at %d %s stands for %+v", now, word, as)
				}
			}
		})
	}
	r.m = restored
}

func TestRotatedTokensOverlap(t *testing.T) {
	r := newRotating(t)
	for _, err := range []error{
		r.rotate(2000, 0, "", map[acl.Role]string{acl.Standard: "x"}),
		r.rotate(2000, 0, "", nil),
		r.rotate(2000, 0, "default", map[acl.Role]string{acl.Standard: "x", acl.ReadOnly: "y", acl.Admin: "z"}),
	} {
		if !errors.Is(err, fsm.ErrTokenRoles) {
			t.Errorf("wrong roles: %v", err)
		}
	}
	admin := map[acl.Role]string{acl.Admin: "a1"}
	for want, err := range map[error]error{
		fsm.ErrTokenOverlap: r.rotate(2000, fsm.MaxTokenOverlap+1, "", admin),
		fsm.ErrNoDatabase:   r.rotate(2000, 1, "none", map[acl.Role]string{acl.Standard: "x", acl.ReadOnly: "y"}),
		fsm.ErrTokens:       r.rotate(2000, 1, "default", map[acl.Role]string{acl.Standard: "x", acl.ReadOnly: "x"}),
		fsm.ErrSameToken:    r.rotate(2000, 1, "", map[acl.Role]string{acl.Admin: "m0"}),
	} {
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	r.salt[0]++ // as a node hashes that is not at the level yet
	if err := r.rotate(2000, 0, "", admin); !errors.Is(err, fsm.ErrTokenSalt) {
		t.Errorf("another salt: %v", err)
	}
	r.salt[0]--
	r.opens(2000, map[string]acl.Role{"a0": acl.Admin, "a1": acl.NoRole, "s0": acl.Standard, "r0": acl.ReadOnly, "m0": acl.Messages})

	for _, one := range []struct {
		overlap int64
		db      string
		words   map[acl.Role]string
	}{
		{1000, "", admin}, {500, "", map[acl.Role]string{acl.Messages: "m1"}},
		{2000, "default", map[acl.Role]string{acl.Standard: "s1", acl.ReadOnly: "r1"}},
	} {
		if err := r.rotate(3000, one.overlap, one.db, one.words); err != nil {
			t.Fatal(err)
		}
	}
	r.opens(3499, map[string]acl.Role{"a0": acl.Admin, "a1": acl.Admin, "m0": acl.Messages, "m1": acl.Messages, "s0": acl.Standard, "s1": acl.Standard, "r0": acl.ReadOnly, "r1": acl.ReadOnly})
	r.m.View(0, [16]byte{}, func(v *fsm.View) {
		if until, ok := v.Former(acl.Admin, acl.DigestOf("a0")); !ok || until != 4000 {
			t.Errorf("the former admin token: %d, %v", until, ok)
		}
		if until, ok := v.Former(acl.Standard, acl.DigestOf("s0")); !ok || until != 5000 {
			t.Errorf("the former Standard token: %d, %v", until, ok)
		}
		if _, ok := v.Former(acl.Admin, acl.DigestOf("a1")); ok || v.Holds(acl.Admin, acl.DigestOf("a0")) || !v.Holds(acl.Standard, acl.DigestOf("s1")) || v.Holds(acl.Standard, acl.DigestOf("s0")) {
			t.Error("what is new and what is former")
		}
		if n := len(v.FormerTokens()); n != 4 {
			t.Errorf("%d former tokens", n)
		}
	})
	if due, ok := r.m.NextDue(); !ok || due != 3500 {
		t.Errorf("the next entry is due at %d, %v", due, ok)
	}
	r.opens(3500, map[string]acl.Role{"m0": acl.NoRole, "m1": acl.Messages, "a0": acl.Admin})
	r.opens(4000, map[string]acl.Role{"a0": acl.NoRole, "a1": acl.Admin, "s0": acl.Standard})
	r.opens(5000, map[string]acl.Role{"s0": acl.NoRole, "s1": acl.Standard, "r0": acl.NoRole, "r1": acl.ReadOnly})
}

// TestOverlapsEndEarly: a second rotation, a reset, a word of the admin's, and the deletion of the database.
func TestOverlapsEndEarly(t *testing.T) {
	r := newRotating(t)
	pair := func(s, ro string) map[acl.Role]string { return map[acl.Role]string{acl.Standard: s, acl.ReadOnly: ro} }
	for i, db := range []string{"default", "default", ""} {
		words := []map[acl.Role]string{pair("s1", "r1"), pair("s2", "r2"), {acl.Admin: "a1"}}[i]
		if err := r.rotate(2000, 100_000, db, words); err != nil {
			t.Fatal(err)
		}
	}
	r.opens(2000, map[string]acl.Role{"s0": acl.NoRole, "s1": acl.Standard, "s2": acl.Standard, "r1": acl.ReadOnly, "a0": acl.Admin, "a1": acl.Admin})
	r.must(2001, fsm.EndTokenOverlap.Code, fsm.EndTokenOverlap.Body(fsm.TokenRole{Role: acl.Admin}))
	r.opens(2001, map[string]acl.Role{"a0": acl.NoRole, "a1": acl.Admin, "s1": acl.Standard})
	r.must(2002, fsm.ResetTokens.Code, fsm.ResetTokens.Body(fsm.DatabaseTokens{Name: "default", Standard: acl.DigestOf("s3").Salted(r.salt), ReadOnly: acl.DigestOf("r3").Salted(r.salt), Salt: r.salt}))
	r.opens(2002, map[string]acl.Role{"s1": acl.NoRole, "s2": acl.NoRole, "s3": acl.Standard, "r1": acl.NoRole, "r3": acl.ReadOnly})
	for _, n := range []fsm.TokenRole{{Role: acl.Standard}, {Role: 200}} {
		if o := r.apply(2002, fsm.EndTokenOverlap.Code, fsm.EndTokenOverlap.Body(n)); !errors.Is(o.Err, fsm.ErrTokenRoles) {
			t.Errorf("%+v: %v", n, o.Err)
		}
	}

	r.must(3000, fsm.CreateDatabase.Code, fsm.CreateDatabase.Body(fsm.DatabaseTokens{Name: "shop", Standard: acl.DigestOf("d0").Salted(r.salt), ReadOnly: acl.DigestOf("e0").Salted(r.salt), Salt: r.salt}))
	if err := r.rotate(3000, 100_000, "shop", pair("d1", "e1")); err != nil {
		t.Fatal(err)
	}
	known := func(word string) (known bool) {
		b := acl.ParseBearer([]byte(word))
		r.m.View(0, [16]byte{}, func(v *fsm.View) { known = v.LoginBearer(&b).Known() })
		return known
	}
	if !known("d0") || !known("d1") {
		t.Error("the tokens of a database don't overlap")
	}
	r.must(3001, fsm.EndTokenOverlap.Code, fsm.EndTokenOverlap.Body(fsm.TokenRole{Database: "shop"}))
	if known("d0") || !known("d1") {
		t.Error("the overlap of a database doesn't end")
	}
	if err := r.rotate(3001, 100_000, "shop", pair("d2", "e2")); err != nil {
		t.Fatal(err)
	}
	r.must(3002, fsm.DeleteDatabase.Code, fsm.DeleteDatabase.Body(fsm.DatabaseName{Name: "shop"}))
	r.must(3003, fsm.CreateDatabase.Code, fsm.CreateDatabase.Body(fsm.DatabaseTokens{Name: "shop", Standard: acl.DigestOf("f0").Salted(r.salt), ReadOnly: acl.DigestOf("g0").Salted(r.salt), Salt: r.salt}))
	r.opens(200_000, map[string]acl.Role{"s3": acl.Standard})
	if known("d1") || known("d2") || !known("f0") {
		t.Error("tokens of a deleted database open its successor")
	}
}
