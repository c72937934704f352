package acl

import "strings"

// Description is a user in the fields of ACL GETUSER.
type Description struct {
	Flags, Passwords []string
	Root             SelectorText
	Selectors        []SelectorText
}

// SelectorText is a selector as rules.
type SelectorText struct{ Commands, Keys, Channels string }

func (s *selector) describe() SelectorText {
	return SelectorText{s.commandText(), strings.Join(s.keyTexts(), " "), strings.Join(s.channelTexts(), " ")}
}

// Describe is the user as rules; of passwords there are only the digests.
func (u *User) Describe() Description {
	d := Description{Flags: []string{"off"}, Root: u.root.describe()}
	if u.enabled {
		d.Flags[0] = "on"
	}
	if u.noPass != 0 {
		d.Flags = append(d.Flags, "nopass")
	}
	for i := range u.credentials {
		d.Passwords = append(d.Passwords, u.credentials[i].digest.Hex())
	}
	for i := range u.more {
		d.Selectors = append(d.Selectors, u.more[i].describe())
	}
	return d
}

// Line is the user as ACL LIST shows it: rules that would make the same user again.
func (u *User) Line() string {
	d := u.Describe()
	words := append([]string{"user", u.Name}, d.Flags...)
	for _, p := range d.Passwords {
		words = append(words, "#"+p)
	}
	words = append(words, u.root.text())
	for i := range u.more {
		words = append(words, "("+u.more[i].text()+")")
	}
	return strings.Join(words, " ")
}
