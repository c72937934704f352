package oidc

import "strings"

// emailClaim counts only where the provider says that it has checked the address.
const emailClaim = "email"

// maxName is the longest name of a person in bytes: it travels in the session's cookie.
const maxName = 200

// nameOf returns a name of the person for people: an address, a user name, or the subject.
func nameOf(claims map[string]any, subject string) string {
	for _, claim := range [...]string{emailClaim, "preferred_username", "name"} {
		if name, _ := claims[claim].(string); name != "" {
			return clip(name)
		}
	}
	return clip(subject)
}

func clip(name string) string {
	if len(name) > maxName {
		name = name[:maxName]
	}
	return strings.ToValidUTF8(name, "")
}

// groupsOf returns the texts of a claim: a list or one. A claim of that very name counts before a
// path into objects.
func groupsOf(claims map[string]any, claim string) (groups []string) {
	value, found := claims[claim]
	if !found {
		value = claims
		for part := range strings.SplitSeq(claim, ".") {
			object, _ := value.(map[string]any)
			value = object[part]
		}
	}
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			if name, is := one.(string); is {
				groups = append(groups, name)
			}
		}
	}
	return groups
}
