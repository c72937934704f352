package searchindex

import (
	"slices"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
)

// maxCombinations bounds the combinations of values that a $composite examines.
const maxCombinations = 50_000_000

// combination is a key of a $composite with its documents.
type combination struct {
	key  []part
	docs []uint32
}

// combinations groups documents by the values of several sources.
type combinations struct {
	sources []source
	after   []part // where the page begins, itself not in it; nil: at the first
	groups  map[string]*combination
	key     []part // of the combination that add is at
	steps   int
}

func newCombinations(sources []source, after []part) *combinations {
	return &combinations{sources: sources, after: after, groups: map[string]*combination{}, key: make([]part, len(sources))}
}

func (c *combinations) compare(x, y []part) int {
	for i := range c.sources {
		if d := c.sources[i].compare(x[i], y[i]); d != 0 {
			return d
		}
	}
	return 0
}

// add puts a document into the groups of all its combinations. name is the part of the group's name from the sources before i.
func (c *combinations) add(doc uint32, i int, name string) {
	if c.steps++; c.steps > maxCombinations {
		return
	}
	if i == len(c.sources) {
		c.put(doc, name)
		return
	}
	for _, p := range c.sources[i].parts(doc) {
		c.key[i] = p
		t := c.sources[i].typed(p)
		c.add(doc, i+1, name+strconv.Itoa(len(t))+":"+t)
	}
}

// put takes a document into the group of a name, if it is on this page or a later one.
func (c *combinations) put(doc uint32, name string) {
	if c.after != nil && c.compare(c.key, c.after) <= 0 {
		return
	}
	one := c.groups[name]
	if one == nil {
		one = &combination{key: slices.Clone(c.key)}
		c.groups[name] = one
	}
	one.docs = append(one.docs, doc)
}

// page returns the first groups in the order of their keys.
func (c *combinations) page(size int) []*combination {
	list := make([]*combination, 0, len(c.groups))
	for _, one := range c.groups { // unordered: sorted below
		list = append(list, one)
	}
	slices.SortFunc(list, func(x, y *combination) int { return c.compare(x.key, y.key) })
	return list[:min(size, len(list))]
}

// shown is a key as its bucket has it.
func (c *combinations) shown(key []part) reply.Value {
	var fields []reply.Value
	for i := range c.sources {
		fields = append(fields, pair(c.sources[i].name, c.sources[i].shown(key[i]))...)
	}
	return reply.Map(fields...)
}

// afterKey is a key as the next page's "after" takes it.
func (c *combinations) afterKey(key []part) reply.Value {
	var fields []reply.Value
	for i := range c.sources {
		fields = append(fields, pair(c.sources[i].name, reply.Bulk(c.sources[i].typed(key[i])))...)
	}
	return reply.Map(fields...)
}

func composite(g *aggregator, a *aggregation, docs []uint32) (v reply.Value, err error) {
	size := a.args.whole("size", 10, 1)
	sources, err := g.sources(a)
	if err != nil {
		return v, err
	}
	after, err := a.after(sources)
	if err != nil {
		return v, err
	}
	c := newCombinations(sources, after)
	for _, doc := range docs {
		c.add(doc, 0, "")
	}
	if c.steps > maxCombinations {
		return v, search.Errorf("Aggregation '%s': the documents have more than %d combinations of values", a.alias, maxCombinations)
	}
	return g.compositePage(a, c, c.page(size))
}

// compositePage is the result: the buckets of a page and where the next one begins.
func (ag *aggregator) compositePage(a *aggregation, c *combinations, page []*combination) (v reply.Value, err error) {
	var buckets []reply.Value
	for _, one := range page {
		b, err := ag.bucket(a, one.docs, append(pair("key", c.shown(one.key)), pair("docCount", reply.Int(int64(len(one.docs))))...)...)
		if err != nil {
			return v, err
		}
		buckets = append(buckets, b)
	}
	fields := pair("buckets", reply.Array(buckets...))
	if len(page) > 0 {
		fields = append(fields, pair("afterKey", c.afterKey(page[len(page)-1].key))...)
	}
	return reply.Map(fields...), nil
}
