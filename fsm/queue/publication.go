package queue

import "trireme/fsm/wire"

// Publication asks for one message, or for one message to each endpoint of a URL group.
type Publication struct {
	// URL is the destination, verbatim; or Group names the URL group, by its name or id. One of the two is set.
	URL, Group string
	// API is the name of the API destination that was resolved to URL.
	API string
	Options
	// DedupID and ContentDedup ask for at most one message in the window of Settings.DedupWindow.
	DedupID      string
	ContentDedup bool
	Body         []byte
	CallerIP     string
	// Run is kept with the message for package flow.
	Run []byte
}

// Encode writes the fields.
func (p *Publication) Encode(w *wire.Writer) {
	w.String(p.URL)
	w.String(p.Group)
	w.String(p.API)
	w.Record(p.Options.Encode)
	w.String(p.DedupID)
	w.Bool(p.ContentDedup)
	w.Bytes(p.Body)
	w.String(p.CallerIP)
	w.Bytes(p.Run)
}

// Decode reads the fields; texts and bytes alias the input.
func (p *Publication) Decode(r *wire.Reader) {
	p.URL, p.Group, p.API = r.Alias(), r.Alias(), r.Alias()
	p.Options.Decode(r.Record())
	p.DedupID, p.ContentDedup, p.Body, p.CallerIP = r.Alias(), r.Bool(), some(r.Bytes()), r.Alias()
	p.Run = some(r.Bytes())
}

// Publications is the argument of the operation Publish: each is judged on its own.
type Publications struct{ Items []Publication }

// Encode writes the fields.
func (p *Publications) Encode(w *wire.Writer) {
	w.Uvarint(uint64(len(p.Items)))
	for i := range p.Items {
		w.Record(p.Items[i].Encode)
	}
}

// Decode reads the fields; texts and bytes alias the input.
func (p *Publications) Decode(r *wire.Reader) {
	p.Items = make([]Publication, r.Count(1))
	for i := range p.Items {
		p.Items[i].Decode(r.Record())
	}
}

// Published is one message that a publication made, or found to be there already.
type Published struct {
	ID  ID
	URL string
	// Deduplicated: nothing was made; ID is the message of that deduplication id.
	Deduplicated bool
}

// Receipt is what became of one publication: Refused, or its messages, in the order of the group's endpoints.
type Receipt struct {
	Messages []Published
	// Group: the destination was a URL group, so that Messages is answered as a list.
	Group bool
	// Refused is nil if the publication was accepted.
	Refused *Error
}

// Receipts is the result of the operation Publish, one for each publication.
type Receipts struct{ Items []Receipt }

// Encode writes the fields.
func (p *Receipts) Encode(w *wire.Writer) {
	w.Uvarint(uint64(len(p.Items)))
	for i := range p.Items {
		w.Record(p.Items[i].Encode)
	}
}

// Decode reads the fields.
func (p *Receipts) Decode(r *wire.Reader) {
	p.Items = make([]Receipt, r.Count(1))
	for i := range p.Items {
		p.Items[i].Decode(r.Record())
	}
}

// Encode writes the fields.
func (p *Receipt) Encode(w *wire.Writer) {
	encodePublished(w, p.Messages)
	w.Bool(p.Group)
	p.Refused.encode(w)
}

// Decode reads the fields.
func (p *Receipt) Decode(r *wire.Reader) {
	p.Messages, p.Group, p.Refused = decodePublished(r), r.Bool(), decodeError(r)
}

func encodePublished(w *wire.Writer, list []Published) {
	w.Uvarint(uint64(len(list)))
	for i := range list {
		list[i].ID.encode(w)
		w.String(list[i].URL)
		w.Bool(list[i].Deduplicated)
	}
}

func decodePublished(r *wire.Reader) []Published {
	n := r.Count(4)
	if n == 0 {
		return nil
	}
	list := make([]Published, n)
	for i := range list {
		list[i] = Published{decodeID(r), r.String(), r.Bool()}
	}
	return list
}
