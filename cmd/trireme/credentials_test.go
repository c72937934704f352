package main

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"testing"

	"github.com/trireme-dev/trireme/fsm/acl"
)

func TestMissingTokensAreGenerated(t *testing.T) {
	c := credentials{Standard: "given"}
	var drawn []string
	for _, one := range c.complete() {
		drawn = append(drawn, one.variable)
	}
	want := []string{"TRIREME_READONLY_TOKEN", "TRIREME_ADMIN_TOKEN", "TRIREME_MESSAGES_TOKEN", "TRIREME_MESSAGES_READONLY_TOKEN"}
	if c.Standard != "given" || !slices.Equal(drawn, want) {
		t.Fatalf("drew %v, and the given token is %q", drawn, c.Standard)
	}
	// Clients of workflows take the token apart.
	var parts struct{ UserID, Password string }
	text, err := base64.StdEncoding.DecodeString(c.Messages)
	if err != nil || json.Unmarshal(text, &parts) != nil || parts.UserID == "" || len(parts.Password) < 40 {
		t.Errorf("drew %q for messages", c.Messages)
	}
	if len(c.Admin) < 40 || c.Admin == c.ReadOnly {
		t.Errorf("drew %q and %q", c.Admin, c.ReadOnly)
	}
	if again := c.complete(); len(again) != 0 {
		t.Errorf("drew %d again", len(again))
	}
}

func TestDigestsMatchTheirRoles(t *testing.T) {
	c := credentials{Standard: "s", ReadOnly: "r", Messages: "m", Admin: "a"}
	digests := c.digests()
	for token, want := range map[string]acl.Role{"s": acl.Standard, "r": acl.ReadOnly, "m": acl.Messages, "a": acl.Admin, "": acl.NoRole, "x": acl.NoRole} {
		if got := digests.Role(acl.DigestOf(token)); got != want {
			t.Errorf("%q opens role %d, want %d", token, got, want)
		}
	}
}

func TestDevCredentialsAreKept(t *testing.T) {
	var none credentials
	for _, one := range none.list() {
		t.Setenv(one.variable, "")
		t.Setenv(one.variable+"_FILE", "")
	}
	dir := t.TempDir()
	first, err := devCredentials(dir, secretVariable)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TRIREME_READONLY_TOKEN", "chosen")
	second, err := devCredentials(dir, secretVariable)
	if err != nil {
		t.Fatal(err)
	}
	if second.ReadOnly != "chosen" || second.Standard != first.Standard || second.Admin != first.Admin {
		t.Errorf("first %+v, then %+v", first, second)
	}
	t.Setenv("TRIREME_READONLY_TOKEN", "")
	if third, err := devCredentials(dir, secretVariable); err != nil || third != first {
		t.Errorf("first %+v, at last %+v, %v", first, third, err)
	}
}
