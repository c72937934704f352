package queue

import "github.com/trireme-dev/trireme/fsm/env"

// joins reports whether a publication to a URL goes into a batch that is there, and the length of its line.
func (s *Store) joins(p *Publication, o *Options) (line int64, joins bool) {
	if !o.Gather.batches() || p.Group != "" || o.Gather.Size < 1 || o.Gather.Bytes < 1 { // the last are refused
		return 0, false
	}
	c := Content{URL: p.URL, API: p.API, Options: *o}
	seq, found := s.gathered.keys.Get(c.gatherKey())
	if !found {
		return 0, false
	}
	n, _ := s.gathered.open.Get(seq)
	line = lineSize(o.Header, o.Labels, p.Body)
	return line, n.bytes+line <= s.batchBytes(o.Gather)
}

// ReplacedWork is the work of cancelling the messages in whose place a publication comes.
func (s *Store) ReplacedWork(p *Publication) int64 {
	return messageWork * int64(s.replaced(p, &p.Options))
}

// replaced counts the messages that a publication cancels to come in their place.
func (s *Store) replaced(p *Publication, o *Options) (n int) {
	if o.Gather == nil || o.Gather.Mode != SingletonCancel {
		return 0
	}
	c := Content{API: p.API, Options: *o, URL: p.URL}
	look := func() {
		if no, ok := s.gathered.keys.Get(c.gatherKey()); ok {
			n += count(s.places.backlog, no) + count(s.places.slots, no)
		}
	}
	g := s.groups.find(p.Group)
	if g == nil {
		look()
		return n
	}
	for i := range g.Endpoints {
		c.URL, c.Group = g.Endpoints[i].URL, g.Name
		look()
	}
	return n
}

// gatherPrice is the price of joining a message to others of its key, in addition to that of making it.
func gatherPrice(o *Options, body []byte, joins bool) (p env.Price) {
	switch g := o.Gather; {
	case g == nil:
	case g.batches():
		line := lineSize(o.Header, o.Labels, body)
		p.Growth = line + partCost + eventCost
		if !joins {
			p.Growth += gatheringCost + headerSize(o.Header) + textsSize(o.Labels...)
		}
		p.Work = messageWork + 4*bytesWork(line) // made, kept, put together and compared with what is common
	case g.waits():
		p.Growth, p.Work = gatheringCost, messageWork
	case g.isSingleton():
		p.Growth, p.Work = queueCost(&Queue{}), operation
	}
	return p
}
