package queue

import (
	"bytes"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

const groupPrefix = "grp"

// groupTable holds the URL groups.
type groupTable struct {
	byName *cow.BTree[string, *Group]
	names  *cow.BTree[string, string] // by id
}

func newGroupTable() groupTable {
	return groupTable{byName: byName[*Group](), names: byName[string]()}
}

func (gt *groupTable) fork() groupTable {
	return groupTable{byName: gt.byName.Snapshot(), names: gt.names.Snapshot()}
}

// find is the URL group of a name or id, nil if there is none.
func (gt *groupTable) find(name string) *Group {
	if g, ok := gt.byName.Get(name); ok {
		return g
	}
	if of, ok := gt.names.Get(name); ok {
		g, _ := gt.byName.Get(of)
		return g
	}
	return nil
}

func (gt *groupTable) put(g *Group) {
	gt.byName.Set(g.Name, g)
	gt.names.Set(g.ID, g.Name)
}

func (gt *groupTable) remove(g *Group) {
	gt.byName.Delete(g.Name)
	gt.names.Delete(g.ID)
}

// ChangeGroup makes, changes or deletes a URL group, and returns what it is afterwards.
func (s *Store) ChangeGroup(e *env.Env, n GroupChange) (Group, error) {
	old := s.groups.find(n.Name)
	if old == nil && !ValidName(n.Name) {
		return Group{}, invalid("invalid topic name %q: %s", n.Name, nameRule)
	}
	switch {
	case n.Act == ActDelete:
		if old != nil {
			s.deleteGroup(old)
		}
		return Group{Name: strings.Clone(n.Name)}, nil
	case n.Act == ActRemoveEndpoints && old == nil:
		return Group{}, notFound("topic %s not found", n.Name)
	case n.Act != ActAddEndpoints && n.Act != ActRemoveEndpoints && n.Act != ActSetHeaders:
		return Group{}, invalid("a topic can't be changed in this way")
	}
	g := Group{Name: strings.Clone(n.Name), Created: e.Now}
	if old != nil {
		g = *old
	}
	if err := s.changeGroup(&g, n); err != nil {
		return Group{}, err
	}
	if old != nil && bytes.Equal(wire.Marshal(&g), wire.Marshal(old)) {
		return *old, nil // the same request, sent again
	}
	g.Updated = e.Now
	if old == nil {
		if limit := s.settings.MaxGroups; limit > 0 && s.groups.byName.Len() >= limit {
			return Group{}, quota("maxTopics")
		}
		g.ID = e.NewID(groupPrefix)
	} else {
		s.memory.fixed -= groupCost(old)
	}
	s.groups.put(&g)
	s.memory.fixed += groupCost(&g)
	if n.Act == ActRemoveEndpoints && len(g.Endpoints) == 0 {
		s.deleteGroup(&g)
	}
	return g, nil
}

func (s *Store) changeGroup(g *Group, n GroupChange) error {
	list := slices.Clone(g.Endpoints)
	switch n.Act {
	case ActSetHeaders:
		g.Header, g.Options = detached(n.Header, n.Options)
	case ActAddEndpoints:
		if slices.ContainsFunc(n.Endpoints, func(end Endpoint) bool { return end.URL == "" }) {
			return invalid("an endpoint needs a url")
		}
		list = addEndpoints(list, n.Endpoints)
		if limit := s.settings.MaxEndpoints; limit > 0 && len(list) > limit {
			return quota("maxEndpointsPerTopic")
		}
	case ActRemoveEndpoints:
		list = removeEndpoints(list, n.Endpoints)
	}
	g.Endpoints = list
	return nil
}

func (s *Store) deleteGroup(g *Group) {
	s.groups.remove(g)
	s.memory.fixed -= groupCost(g)
}

func groupCost(g *Group) int64 {
	n := 320 + 2*int64(len(g.Name)) + 2*headerSize(g.Header)
	for _, e := range g.Endpoints {
		n += 64 + int64(len(e.Name)+len(e.URL))
	}
	return n
}
