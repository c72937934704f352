package console

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
)

// GroupRole gives a role to the members of an identity provider's group.
type GroupRole struct {
	Group string
	// Name is the role as the operator wrote it.
	Name string
	// Role is a role of the cluster; with NoRole it is User of the database DB ("" is
	// default).
	Role     acl.Role
	DB, User string
}

// ParseGroupRole reads GROUP=ROLE, where ROLE is admin, messages, messages-readonly,
// database:NAME, readonly:NAME or user:DATABASE/NAME. The group's name may have an equals sign.
func ParseGroupRole(text string) (g GroupRole, err error) {
	at := strings.LastIndexByte(text, '=')
	if at < 1 || at == len(text)-1 {
		return g, fmt.Errorf("expected GROUP=ROLE, got %q", text)
	}
	g.Group, g.Name = text[:at], text[at+1:]
	kind, name, named := strings.Cut(g.Name, ":")
	switch {
	case g.Name == "admin":
		g.Role = acl.Admin
	case g.Name == "messages":
		g.Role = acl.Messages
	case g.Name == "messages-readonly":
		g.Role = acl.MessagesReadOnly
	case named && name != "" && kind == "database":
		g.DB, g.User = name, acl.DefaultName
	case named && name != "" && kind == "readonly":
		g.DB, g.User = name, acl.ReadOnlyName
	case named && kind == "user":
		g.DB, g.User, _ = strings.Cut(name, "/")
	}
	if g.Role == acl.NoRole && (g.DB == "" || g.User == "") {
		return g, fmt.Errorf("the role %q of group %q is not known: expected admin, messages, messages-readonly, database:NAME, readonly:NAME or user:DATABASE/NAME", g.Name, g.Group)
	}
	if g.DB == fsm.DefaultDB {
		g.DB = ""
	}
	return g, nil
}

// token returns a credential of the role; false if the role has none in this cluster.
func (gr *GroupRole) token(v *fsm.View) (string, bool) {
	if gr.Role != acl.NoRole {
		return v.RoleToken(gr.Role)
	}
	return v.DelegatedToken(gr.DB, gr.User)
}

// roleOf returns the first role whose group the person has, nil if there is none.
func (so *SignOn) roleOf(groups []string) *GroupRole {
	for i := range so.Roles {
		if slices.Contains(groups, so.Roles[i].Group) {
			return &so.Roles[i]
		}
	}
	return nil
}
