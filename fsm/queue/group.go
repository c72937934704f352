package queue

import (
	"bytes"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

const groupPrefix = "grp"

// group is the URL group of a name or id, nil if there is none.
func (s *Store) group(name string) *Group {
	if g, ok := s.groups.Get(name); ok {
		return g
	}
	if of, ok := s.groupIDs.Get(name); ok {
		g, _ := s.groups.Get(of)
		return g
	}
	return nil
}

// ChangeGroup makes, changes or deletes a URL group, and returns what it is afterwards.
func (s *Store) ChangeGroup(e *env.Env, n GroupChange) (Group, error) {
	old := s.group(n.Name)
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
		if limit := s.settings.MaxGroups; limit > 0 && s.groups.Len() >= limit {
			return Group{}, quota("maxTopics")
		}
		g.ID = e.NewID(groupPrefix)
		s.groupIDs.Set(g.ID, g.Name)
	} else {
		s.fixedBytes -= groupCost(old)
	}
	s.groups.Set(g.Name, &g)
	s.fixedBytes += groupCost(&g)
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
	s.groups.Delete(g.Name)
	s.groupIDs.Delete(g.ID)
	s.fixedBytes -= groupCost(g)
}

func groupCost(g *Group) int64 {
	n := 320 + 2*int64(len(g.Name)) + 2*headerSize(g.Header)
	for _, e := range g.Endpoints {
		n += 64 + int64(len(e.Name)+len(e.URL))
	}
	return n
}
