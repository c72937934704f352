package payloads

import "github.com/trireme-dev/trireme/fsm/payload"

// Put writes byte strings to segments, which do not become young payloads before. An error leaves nothing behind that is needed.
func (s *Store) Put(list [][]byte) ([]payload.Cold, error) {
	if len(list) == 0 {
		return nil, nil
	}
	bodies, put := make([]*Body, len(list)), make([]payload.Cold, len(list))
	for i, b := range list {
		bodies[i] = &Body{s: s, n: int32(len(b))}
		bodies[i].memory.Store(&b)
		put[i] = bodies[i]
	}
	s.moving.Lock()
	defer s.moving.Unlock()
	if err := s.writeAll(bodies, nil); err != nil {
		if s.counted.failures.Add(1) == 1 {
			s.opts.Log.Warn("values stay in memory: they can't be written to the disk", "error", err)
		}
		return nil, err
	}
	return put, nil
}

// Near returns the bytes if they are in memory: see payload.Cold.
func (bo *Body) Near() ([]byte, bool) {
	if b := bo.memory.Load(); b != nil {
		return *b, true
	}
	return nil, false
}

// Hold returns the bytes, and keeps a copy of what is on the disk among the young payloads: see payload.Cold. The place of the
// payload stays what it is, so that it is not written again.
func (bo *Body) Hold() []byte {
	if b, ok := bo.Near(); ok {
		return b
	}
	b := bo.Bytes()
	bo.copied.Store(true)
	if bo.memory.CompareAndSwap(nil, &b) {
		bo.s.add(bo)
	}
	return b
}

// onDisk reports whether the payload's place has its bytes, which may be in memory too.
func (bo *Body) onDisk() bool { return bo.memory.Load() == nil || bo.copied.Load() }
