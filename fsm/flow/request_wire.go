package flow

import (
	"trireme/fsm/queue"
	"trireme/fsm/wire"
)

// Encode writes the fields.
func (n *Submissions) Encode(w *wire.Writer) {
	w.Uvarint(uint64(len(n.Items)))
	for i := range n.Items {
		w.Record(n.Items[i].encode)
	}
}

// Decode reads the fields; texts and bytes alias the input.
func (n *Submissions) Decode(r *wire.Reader) {
	n.Items = make([]Submission, r.Count(1))
	for i := range n.Items {
		n.Items[i].decode(r.Record())
	}
}

func (n *Submission) encode(w *wire.Writer) {
	w.Uvarint(uint64(n.Kind))
	w.String(n.URL)
	w.String(n.RunID)
	w.Bytes(n.Body)
	w.Record(n.Options.Encode)
	w.Uvarint(uint64(n.Features))
	w.String(n.CallerIP)
	n.Step.encode(w)
	w.Uvarint(uint64(n.Origin))
	w.Bool(n.Again)
	w.Record(func(w *wire.Writer) {
		if n.Invoker != nil {
			n.Invoker.encode(w)
		}
	})
	w.Varint(int64(n.Depth))
	w.String(n.DedupID)
	w.Bool(n.ContentDedup)
}

func (n *Submission) decode(r *wire.Reader) {
	n.Kind, n.URL, n.RunID, n.Body = SubmissionKind(r.Uvarint()), r.Alias(), r.Alias(), some(r.Bytes())
	n.Options.Decode(r.Record())
	n.Features, n.CallerIP, n.Step = Features(r.Uvarint()), r.Alias(), decodeStep(r)
	n.Origin, n.Again = Origin(r.Uvarint()), r.Bool()
	if in := r.Record(); in.Len() > 0 {
		n.Invoker = decodeInvoker(in)
	}
	n.Depth = int(r.Varint())
	if r.Len() > 0 { // entries of old have no more
		n.DedupID, n.ContentDedup = r.Alias(), r.Bool()
	}
}

// Encode writes the fields.
func (n *Receipts) Encode(w *wire.Writer) {
	w.Uvarint(uint64(len(n.Items)))
	for i := range n.Items {
		w.Record(n.Items[i].Encode)
	}
}

// Decode reads the fields.
func (n *Receipts) Decode(r *wire.Reader) {
	n.Items = make([]Receipt, r.Count(1))
	for i := range n.Items {
		n.Items[i].Decode(r.Record())
	}
}

// Encode writes the fields.
func (n *Receipt) Encode(w *wire.Writer) {
	encodeID(w, n.ID)
	w.Bool(n.Deduplicated)
	w.String(n.RunID)
	w.Varint(n.Created)
	encodeRefusal(w, n.Refused)
}

// Decode reads the fields.
func (n *Receipt) Decode(r *wire.Reader) {
	n.ID, n.Deduplicated, n.RunID, n.Created, n.Refused = decodeID(r), r.Bool(), r.String(), r.Varint(), decodeRefusal(r)
}

// Encode writes the fields.
func (n *Await) Encode(w *wire.Writer) {
	w.String(n.RunID)
	w.String(n.EventID)
	n.Step.encode(w)
	w.Bytes(n.Open)
	w.Varint(n.Timeout)
	w.String(n.TimeoutText)
	w.String(n.URL)
	w.Record(n.Options.Encode)
	w.String(n.TimeoutURL)
	w.Record(n.TimeoutOptions.Encode)
	w.Bytes(n.TimeoutBody)
}

// Decode reads the fields; texts and bytes alias the input.
func (n *Await) Decode(r *wire.Reader) {
	n.RunID, n.EventID, n.Step, n.Open = r.Alias(), r.Alias(), decodeStep(r), some(r.Bytes())
	n.Timeout, n.TimeoutText, n.URL = r.Varint(), r.Alias(), r.Alias()
	n.Options.Decode(r.Record())
	n.TimeoutURL = r.Alias()
	n.TimeoutOptions.Decode(r.Record())
	n.TimeoutBody = some(r.Bytes())
}

// Encode writes the fields.
func (n *Notification) Encode(w *wire.Writer) {
	w.String(n.EventID)
	w.String(n.RunID)
	w.Bool(n.Hook)
	w.Bytes(n.Body)
}

// Decode reads the fields; texts and bytes alias the input.
func (n *Notification) Decode(r *wire.Reader) {
	n.EventID, n.RunID, n.Hook, n.Body = r.Alias(), r.Alias(), r.Bool(), some(r.Bytes())
}

// Encode writes the fields.
func (n *Notified) Encode(w *wire.Writer) {
	w.Uvarint(uint64(len(n.Woken)))
	for i := range n.Woken {
		w.Record(n.Woken[i].encode)
	}
	w.Bool(n.Stored)
}

// Decode reads the fields; texts and bytes alias the input.
func (n *Notified) Decode(r *wire.Reader) {
	if k := r.Count(1); k > 0 {
		n.Woken = make([]Woken, k)
		for i := range n.Woken {
			n.Woken[i].decode(r.Record())
		}
	}
	n.Stored = r.Bool()
}

func (n *Woken) encode(w *wire.Writer) {
	w.Record(n.Waiter.encode)
	encodeID(w, n.Message)
	w.String(n.RunID)
	w.Varint(n.Created)
}

func (n *Woken) decode(r *wire.Reader) {
	n.Waiter = decodeWaiter(r.Record())
	n.Message, n.RunID, n.Created = decodeID(r), r.Alias(), r.Varint()
}

// Encode writes the fields.
func (n *Ending) Encode(w *wire.Writer) {
	w.String(n.RunID)
	w.Bytes(n.Result)
	w.Bool(n.HasResult)
}

// Decode reads the fields; texts and bytes alias the input.
func (n *Ending) Decode(r *wire.Reader) {
	n.RunID, n.Result, n.HasResult = r.Alias(), some(r.Bytes()), r.Bool()
}

// Encode writes the fields.
func (n *RunRef) Encode(w *wire.Writer) {
	w.String(n.ID)
	w.Varint(n.Created)
	w.Uvarint(uint64(n.State))
}

// Decode reads the fields.
func (n *RunRef) Decode(r *wire.Reader) {
	n.ID, n.Created, n.State = r.String(), r.Varint(), RunState(min(r.Uvarint(), uint64(runStates)))
}

// Encode writes the fields.
func (n *Cancellation) Encode(w *wire.Writer) {
	w.Record(n.Filter.encode)
	w.Varint(int64(n.Limit))
	w.Bool(n.Strict)
	w.Uvarint(n.After)
}

// Decode reads the fields; texts alias the input.
func (n *Cancellation) Decode(r *wire.Reader) {
	n.Filter.decode(r.Record())
	n.Limit, n.Strict, n.After = int(r.Varint()), r.Bool(), r.Uvarint()
}

// Encode writes the fields.
func (n *Cancelled) Encode(w *wire.Writer) {
	w.Varint(int64(n.Count))
	w.Bool(n.More)
	w.Uvarint(n.Cursor)
}

// Decode reads the fields.
func (n *Cancelled) Decode(r *wire.Reader) {
	n.Count, n.More, n.Cursor = int(r.Varint()), r.Bool(), r.Uvarint()
}

// Encode writes the fields.
func (n *DeadSelection) Encode(w *wire.Writer) {
	w.Uvarint(uint64(len(n.IDs)))
	for _, t := range n.IDs {
		encodeStamp(w, t)
	}
	w.Record(n.Filter.encode)
	w.Varint(int64(n.Limit))
	encodeStamp(w, n.After)
	w.Bool(n.Strict)
	w.Bool(n.None)
}

// Decode reads the fields; texts alias the input.
func (n *DeadSelection) Decode(r *wire.Reader) {
	if k := r.Count(2); k > 0 {
		n.IDs = make([]queue.Stamp, k)
		for i := range n.IDs {
			n.IDs[i] = decodeStamp(r)
		}
	}
	n.Filter.decode(r.Record())
	n.Limit, n.After, n.Strict, n.None = int(r.Varint()), decodeStamp(r), r.Bool(), r.Bool()
}

func (f *DeadFilter) encode(w *wire.Writer) {
	w.Record(f.Filter.encode)
	w.Uvarint(uint64(len(f.Callbacks)))
	for _, s := range f.Callbacks {
		w.Uvarint(uint64(s))
	}
	w.Uvarint(uint64(len(f.Statuses)))
	for _, s := range f.Statuses {
		w.Varint(int64(s))
	}
}

func (f *DeadFilter) decode(r *wire.Reader) {
	f.Filter.decode(r.Record())
	for range r.Count(1) {
		f.Callbacks = append(f.Callbacks, CallbackState(min(r.Uvarint(), uint64(callbackStates))))
	}
	for range r.Count(1) {
		f.Statuses = append(f.Statuses, int(r.Varint()))
	}
}

// Encode writes the fields.
func (n *Revival) Encode(w *wire.Writer) {
	w.Record(n.DeadSelection.Encode)
	w.Bool(n.Restart)
	w.String(n.RunID)
	w.Record(n.Options.Encode)
}

// Decode reads the fields; texts alias the input.
func (n *Revival) Decode(r *wire.Reader) {
	n.DeadSelection.Decode(r.Record())
	n.Restart, n.RunID = r.Bool(), r.Alias()
	n.Options.Decode(r.Record())
}

// Encode writes the fields.
func (n *Revived) Encode(w *wire.Writer) {
	w.Uvarint(uint64(len(n.Runs)))
	for i := range n.Runs {
		n.Runs[i].Encode(w)
	}
	w.Bool(n.More)
	encodeStamp(w, n.Cursor)
}

// Decode reads the fields.
func (n *Revived) Decode(r *wire.Reader) {
	if k := r.Count(3); k > 0 {
		n.Runs = make([]RunRef, k)
		for i := range n.Runs {
			n.Runs[i].Decode(r)
		}
	}
	n.More, n.Cursor = r.Bool(), decodeStamp(r)
}

// Encode writes the fields.
func (n *DeadDeleted) Encode(w *wire.Writer) {
	w.Varint(int64(n.Count))
	w.Bool(n.More)
	encodeStamp(w, n.Cursor)
}

// Decode reads the fields.
func (n *DeadDeleted) Decode(r *wire.Reader) {
	n.Count, n.More, n.Cursor = int(r.Varint()), r.Bool(), decodeStamp(r)
}

// Encode writes the fields.
func (n *CallbackChange) Encode(w *wire.Writer) {
	encodeStamp(w, n.Dead)
	w.Bool(n.Cancel)
}

// Decode reads the fields.
func (n *CallbackChange) Decode(r *wire.Reader) { n.Dead, n.Cancel = decodeStamp(r), r.Bool() }
