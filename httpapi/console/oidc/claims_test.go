package oidc

import (
	"slices"
	"strings"
	"testing"
)

func TestGroupsOf(t *testing.T) {
	claims := map[string]any{
		"groups": []any{"a", 1.0, "b", nil}, "one": "c", "realm": map[string]any{"roles": []any{"d"}, "deep": map[string]any{"er": "e"}},
		"https://x.example/groups": []any{"f"}, "none": nil,
	}
	for claim, want := range map[string][]string{
		"groups": {"a", "b"}, "one": {"c"}, "realm.roles": {"d"}, "realm.deep.er": {"e"}, "https://x.example/groups": {"f"},
		"none": nil, "missing": nil, "realm": nil, "one.more": nil, "realm.deep.er.more": nil, "": nil, "..": nil,
	} {
		if got := groupsOf(claims, claim); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", claim, got, want)
		}
	}
}

func TestNameOf(t *testing.T) {
	for _, one := range []struct {
		claims map[string]any
		want   string
	}{
		{map[string]any{"email": "a@b", "name": "Ann"}, "a@b"},
		{map[string]any{"email": 1.0, "name": "Ann", "preferred_username": ""}, "Ann"},
		{nil, "subject"},
		{map[string]any{"name": strings.Repeat("é", 200)}, strings.Repeat("é", 100)},
		{map[string]any{"name": "x" + strings.Repeat("é", 200)}, "x" + strings.Repeat("é", 99)},
	} {
		if got := nameOf(one.claims, "subject"); got != one.want {
			t.Errorf("%v: %q", one.claims, got)
		}
	}
}
