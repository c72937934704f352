package searchindex

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
)

// facetTree are the counts of a $facet, and what of them is shown.
type facetTree struct {
	g           *aggregator
	a           *aggregation
	root        string                    // without a slash at its end
	depth       int                       // levels below the root
	size, least int                       // most children of a parent, least documents of a child
	byPath, up  bool                      // the order of children
	counts      map[string]map[string]int // by parent and child
}

// facet counts what is below a path, level by level.
func facet(g *aggregator, a *aggregation, docs []uint32) (v reply.Value, err error) {
	t := &facetTree{g: g, a: a, counts: map[string]map[string]int{}}
	if err := t.options(); err != nil {
		return v, err
	}
	for _, doc := range docs {
		a.f.keys(doc, func(k bucketKey) { t.count(k.text) })
	}
	others, children, err := t.below(t.root)
	if err != nil {
		return v, err
	}
	return reply.Map(slices.Concat(pair("path", reply.Bulk(cmp.Or(t.root, "/"))), pair("sumOtherDocCount", reply.Int(others)), pair("children", reply.Array(children...)))...), nil
}

func (t *facetTree) options() error {
	args := t.a.args
	path := args.text("path", "")
	t.depth, t.size, t.least = args.whole("depth", 1, 1), args.whole("size", 10, 1), args.whole("minDocCount", 1, 0)
	if o := args.object("order"); o != nil {
		for _, name := range []string{"count", "path"} {
			if direction := o.text(name, ""); direction != "" {
				t.byPath, t.up = name == "path", strings.EqualFold(direction, "asc")
			}
		}
		args.fail(o.done("order"))
	}
	if !strings.HasPrefix(path, "/") {
		return search.Errorf("Aggregation '%s': 'path' must begin with '/'", t.a.alias)
	}
	t.root = strings.TrimSuffix(path, "/")
	return nil
}

// count takes in one path of a document, on each level from the root to the depth.
func (t *facetTree) count(path string) {
	rest, below := strings.CutPrefix(path, t.root+"/")
	parent := t.root
	for level := 0; below && rest != "" && level < t.depth; level++ {
		var name string
		name, rest, below = strings.Cut(rest, "/")
		if t.counts[parent] == nil {
			t.counts[parent] = map[string]int{}
		}
		child := parent + "/" + name
		t.counts[parent][child]++
		parent = child
	}
}

// children are the paths below a parent with enough documents, in order.
func (t *facetTree) children(parent string) (paths []string) {
	counts := t.counts[parent]
	for path, n := range counts { // unordered: sorted below
		if n >= t.least {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, func(x, y string) int {
		byPath := strings.Compare(x, y)
		c := counts[x] - counts[y]
		if t.byPath {
			c = byPath
		}
		if !t.up {
			c = -c
		}
		return cmp.Or(c, byPath)
	})
	return paths
}

// below shows the children of a parent; others are the documents of those that are left out.
func (t *facetTree) below(parent string) (others int64, shown []reply.Value, err error) {
	for i, path := range t.children(parent) {
		n := int64(t.counts[parent][path])
		if i >= t.size {
			others += n
			continue
		}
		if t.g.buckets++; t.g.buckets > maxBuckets {
			return 0, nil, search.Errorf("Aggregation '%s' makes more than %d buckets", t.a.alias, maxBuckets)
		}
		more, kids, err := t.below(path)
		if err != nil {
			return 0, nil, err
		}
		fields := slices.Concat(pair("path", reply.Bulk(path)), pair("docCount", reply.Int(n)), pair("sumOtherDocCount", reply.Int(more)))
		if len(kids) > 0 {
			fields = append(fields, pair("children", reply.Array(kids...))...)
		}
		shown = append(shown, reply.Map(fields...))
	}
	return others, shown, nil
}
