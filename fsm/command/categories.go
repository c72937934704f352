package command

import "github.com/trireme-dev/trireme/fsm/acl"

// Access are the ACL categories of a row where they differ from those that follow from its family and Flags.
type Access struct {
	// Categories are those in addition; NotCategories are those of the family that Redis does not give the command.
	Categories, NotCategories acl.Category
	// Regrouped are categories that the row leaves, or enters, where Redis has it in others than its Flags say.
	Regrouped acl.Category
}

// categories are all categories of the row.
func (c *Command) categories() acl.Category {
	set := c.family.category&^c.NotCategories | c.Categories
	for _, f := range []struct {
		flag     Flags
		category acl.Category
	}{{Write, acl.Write}, {ReadOnly, acl.Read}, {Admin, acl.AdminCategory | acl.Dangerous}, {Fast, acl.Fast}, {ReadOnlyUser, acl.ReadOnlyCategory}} {
		if c.Flags&f.flag != 0 {
			set |= f.category
		}
	}
	if c.Flags&Fast == 0 {
		set |= acl.Slow
	}
	if c.Flags&Admin != 0 || c.Group() == "pubsub" || c.Group() == "scripting" { // these are about the data
		set &^= acl.Read | acl.Write
	}
	return set ^ c.Regrouped
}

// container is the first word of a row's name.
func container(name string) string {
	for i := range len(name) {
		if name[i] == ' ' {
			return name[:i]
		}
	}
	return name
}

// newCatalog is the table as rules of users see it, in the order of its rows.
func (t *Table) newCatalog() *acl.Catalog {
	list := make([]acl.Command, len(t.rows))
	for i, c := range t.rows {
		list[i] = acl.Command{Name: outward(c.Name), Categories: c.categories()}
	}
	return acl.NewCatalog(list)
}

// Catalog is the table as rules of users see it.
func (t *Table) Catalog() *acl.Catalog { return t.catalog }
