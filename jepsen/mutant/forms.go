package mutant

// Faults of values and databases that are kept in another form while they are not used, and of clients that wait without a goroutine.
const (
	PackedCount      = "packed-count"
	PackedConversion = "packed-conversion"
	PackedScores     = "packed-scores"
	PackedEncoding   = "packed-encoding"
	BothDeadlines    = "both-deadlines"
	MessageRests     = "message-rests"
	LeavesItsPlace   = "leaves-its-place"
)

// forms are the faults of what is at rest.
var forms = []Fault{
	{
		PackedCount,
		"a packed value of 128 elements counts 64",
		[]Edit{
			{
				"fsm/keyspace/packed.go",
				`int(record[1])<<7`,
				`int(record[1])<<6`,
			},
		},
	},
	{
		PackedConversion,
		"a packed hash or set of 128 elements that is written to loses one",
		[]Edit{
			{
				"fsm/keyspace/table.go",
				`	t.each(func(e E) bool { return b.Add(e, struct{}{}) })
`,
				`	n := 0
	t.each(func(e E) bool { n++; return n == MaxPackedElements || b.Add(e, struct{}{}) })
`,
			},
		},
	},
	{
		PackedScores,
		"members of a packed sorted set that have equal scores change places when it is written to",
		[]Edit{
			{
				"fsm/keyspace/zset.go",
				`		zs.small = append(zs.small, s)
		return true
	})
`,
				`		zs.small = append(zs.small, s)
		if n := len(zs.small); n > 1 && zs.small[n-2].Score == s.Score {
			zs.small[n-2], zs.small[n-1] = s, zs.small[n-2]
		}
		return true
	})
`,
			},
		},
	},
	{
		PackedEncoding,
		"OBJECT ENCODING tells of the form of a packed value, which is a node's own affair",
		[]Edit{
			{
				"fsm/keyspace/encoding.go",
				`	switch c := o.Data().(type) {
	case *Elements:
		return c.encoding(t)
	case *Fields:
`,
				`	if o.isPacked() {
		return "listpack"
	}
	switch c := o.Data().(type) {
	case *Elements:
		return c.encoding(t)
	case *Fields:
`,
			},
		},
	},
	{
		BothDeadlines,
		"a hash whose last fields had deadlines of both kinds stays, empty (this was a fault of the product)",
		[]Edit{
			{
				"fsm/keyspace/hash_expire.go",
				`		if o.expired(e.Time) { // it has deadlines of both kinds
			db.expire(e, d.key)
			removed++
			continue
		}
`,
				"",
			},
		},
	},
	{
		MessageRests,
		"a database in which there are only messages rests, and loses them",
		[]Edit{
			{
				"fsm/resting.go",
				`d.search != s.blank.search || d.messages != nil ||
`,
				`d.search != s.blank.search ||
`,
			},
		},
	},
	{
		LeavesItsPlace,
		"a parked client that disconnects keeps its place, and an element is given to it",
		[]Edit{
			{
				"resp/parked.go",
				`			c.wait.left = true
			c.s.blocked.release(c.wait.w, reply.NilArray())
			return
`,
				`			c.wait.left = true
			return
`,
			},
		},
	},
}
