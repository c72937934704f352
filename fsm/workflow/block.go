package workflow

// passedBlocks returns a function that reports whether a result is one of a block that a later step of the log follows: then the endpoint
// has passed the block, whatever became of the deliveries of its results.
func passedBlocks(list []*Entry) func(*Entry) bool {
	newest, ends := uint32(0), blockEnds{}
	var before *Entry
	for _, e := range list {
		newest = max(newest, e.Number())
		if !e.plan() {
			before = nil
			continue
		}
		ends[e.Target] = e.Target + e.Concurrent - 1
		if before != nil && before.Target+1 == e.Target && before.Concurrent == e.Concurrent {
			ends[e.Target] = ends[before.Target]
		}
		before = e
	}
	return func(e *Entry) bool { return e.IsResult() && e.Concurrent > 1 && newest > ends.of(e) }
}

// blockEnds has the last step of the block of each planned step. Plans of a block follow one another in the log.
type blockEnds map[uint32]uint32

// of returns the last step of the block of a result, or the last that it may have.
func (be blockEnds) of(e *Entry) uint32 {
	if end, planned := be[e.Step.ID]; planned {
		return end
	}
	return e.Step.ID + e.Concurrent - 1
}
