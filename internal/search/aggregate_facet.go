package search

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
)

// facet counts what is below a path, level by level.
func facet(g *aggregator, a *aggregation, docs []uint32) (v reply.Value, err error) {
	path := a.args.text("path", "")
	depth, size, least := a.args.whole("depth", 1, 1), a.args.whole("size", 10, 1), a.args.whole("minDocCount", 1, 0)
	byPath, up := false, false
	if o := a.args.object("order"); o != nil {
		for _, name := range []string{"count", "path"} {
			if direction := o.text(name, ""); direction != "" {
				byPath, up = name == "path", strings.EqualFold(direction, "asc")
			}
		}
		a.args.fail(o.done("order"))
	}
	if !strings.HasPrefix(path, "/") {
		return v, search.Errorf("Aggregation '%s': 'path' must begin with '/'", a.alias)
	}
	path = strings.TrimSuffix(path, "/")
	counts := map[string]map[string]int{} // by parent
	for _, doc := range docs {
		a.f.keys(doc, func(k bucketKey) {
			rest, below := strings.CutPrefix(k.text, path+"/")
			parent := path
			for level := 0; below && rest != "" && level < depth; level++ {
				var name string
				name, rest, below = strings.Cut(rest, "/")
				if counts[parent] == nil {
					counts[parent] = map[string]int{}
				}
				child := parent + "/" + name
				counts[parent][child]++
				parent = child
			}
		})
	}
	var below func(parent string) (others int64, children []reply.Value, err error)
	below = func(parent string) (others int64, children []reply.Value, err error) {
		var names []string
		for name, n := range counts[parent] { // unordered: sorted below
			if n >= least {
				names = append(names, name)
			}
		}
		slices.SortFunc(names, func(x, y string) int {
			c := strings.Compare(x, y)
			if !byPath && counts[parent][x] != counts[parent][y] {
				c = counts[parent][x] - counts[parent][y]
				if !up {
					c = -c
				}
			} else if byPath && !up {
				c = -c
			}
			return c
		})
		for i, name := range names {
			if i >= size {
				others += int64(counts[parent][name])
				continue
			}
			if g.buckets++; g.buckets > maxBuckets {
				return 0, nil, search.Errorf("Aggregation '%s' makes more than %d buckets", a.alias, maxBuckets)
			}
			more, kids, err := below(name)
			if err != nil {
				return 0, nil, err
			}
			fields := slices.Concat(pair("path", reply.Bulk(name)), pair("docCount", reply.Int(int64(counts[parent][name]))), pair("sumOtherDocCount", reply.Int(more)))
			if len(kids) > 0 {
				fields = append(fields, pair("children", reply.Array(kids...))...)
			}
			children = append(children, reply.Map(fields...))
		}
		return others, children, nil
	}
	others, children, err := below(path)
	if err != nil {
		return v, err
	}
	shown := path
	if shown == "" {
		shown = "/"
	}
	return reply.Map(slices.Concat(pair("path", reply.Bulk(shown)), pair("sumOtherDocCount", reply.Int(others)), pair("children", reply.Array(children...)))...), nil
}
