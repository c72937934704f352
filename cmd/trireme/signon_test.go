package main

import (
	"testing"

	"github.com/spf13/pflag"
)

// TestSignOnFlags reads settings of which one thing is wrong each.
func TestSignOnFlags(t *testing.T) {
	right := []string{"--oidc-issuer=https://login.example.com", "--oidc-client-id=console", "--oidc-roles=ops=admin,CN=devs=database:shop"}
	for _, one := range []struct {
		more  []string
		wrong bool
	}{
		{nil, false},
		{[]string{"--oidc-redirect-url=https://console.example.com/console/oidc/callback", "--oidc-session-age=12h"}, false},
		{[]string{"--oidc-issuer=http://127.0.0.1:5556/dex"}, false},
		{[]string{"--oidc-issuer=http://login.example.com"}, true},
		{[]string{"--oidc-issuer=login.example.com"}, true},
		{[]string{"--oidc-issuer="}, true},
		{[]string{"--oidc-client-id="}, true},
		{[]string{"--oidc-roles=ops=root"}, true},
		{[]string{"--oidc-scopes=email"}, true},
		{[]string{"--oidc-redirect-url=https://console.example.com/"}, true},
		{[]string{"--oidc-session-age=13h"}, true},
		{[]string{"--oidc-session-age=0"}, true},
	} {
		f, s := pflag.NewFlagSet("", pflag.ContinueOnError), signOnSettings{}
		signOnFlags(f, &s)
		if err := f.Parse(append(right, one.more...)); err != nil {
			t.Fatal(err)
		}
		o, err := s.check()
		if (err != nil) != one.wrong {
			t.Errorf("%v: %v", one.more, err)
		}
		if err == nil && (o.Roles[1].Group != "CN=devs" || o.Roles[1].DB != "shop") {
			t.Errorf("%v: %+v", one.more, o.Roles)
		}
	}
}
