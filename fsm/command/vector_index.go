package command

import (
	"fmt"

	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/vector"
)

const (
	maxVectorDim = 1 << 15 // elements of a vector
	maxNearest   = 1000    // TOPK
)

// The errors of the VECTOR family; those that name an index are in the words of the
// reference service.
var (
	errVector    = reply.Error("ERR invalid vector: expected finite 32-bit floats")
	errVectorDim = reply.Error(fmt.Sprintf("ERR DIM must be between 1 and %d", maxVectorDim))
	errTopK      = reply.Error(fmt.Sprintf("ERR TOPK must be between 1 and %d", maxNearest))
	errVectorID  = reply.Error("ERR id must not be empty")
	errMetric    = reply.Error("ERR METRIC must be COSINE, EUCLIDEAN or DOT")
)

func errNoIndex(key []byte) reply.Value {
	return reply.Error("ERR Index " + clean(string(key)) + " is not found")
}

func errDimension(want, got int) reply.Value {
	return reply.Error(fmt.Sprintf("ERR vector dimension mismatch: expected %d, got %d", want, got))
}

// findVectors is the index under key; refusal says that there is none, or that the key
// holds another type.
func findVectors(tx *Tx, key []byte) (x *keyspace.Vectors, refusal *reply.Value) {
	o, x, ok := find[*keyspace.Vectors](tx, key)
	switch {
	case !ok:
		return nil, &ErrWrongType
	case o == nil:
		return nil, ptr(errNoIndex(key))
	}
	return x, nil
}

func vectorCreate(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	var dim int64
	var metric vector.Metric
	var hasDim, hasMetric, existsOK bool
	for a.Left() > 0 && !a.bad {
		switch {
		case !hasDim && a.Word("DIM"):
			hasDim = true
			if dim = a.IntOr(errVectorDim); dim < 1 || dim > maxVectorDim {
				a.Fail(errVectorDim)
			}
		case !hasMetric && a.Word("METRIC"):
			hasMetric = true
			var ok bool
			if metric, ok = vector.ParseMetric(ascii.Upper(a.String())); !ok {
				a.Fail(errMetric)
			}
		case !existsOK && a.Word("EXISTSOK"):
			existsOK = true
		default:
			a.Fail(ErrSyntax)
		}
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	if !hasDim || !hasMetric {
		return ErrSyntax
	}
	o, x, ok := find[*keyspace.Vectors](tx, key)
	switch {
	case !ok:
		return ErrWrongType
	case o == nil:
		tx.DB.PutContainer(tx.Env, key, keyspace.NewVectors(int(dim), metric), 0)
		tx.Event(ModuleEvent, "vector.create", key)
		return reply.Int(1)
	case !existsOK:
		return reply.Error("ERR Index " + clean(string(key)) + " already exists")
	case x.Dim() != int(dim) || x.Metric() != metric:
		return reply.Error("ERR Index " + clean(string(key)) + " already exists with a different configuration")
	}
	return reply.Int(0)
}

// vector reads a vector: VALUES and its elements, or its 32-bit floats as they are or in
// base64. It is not given if the next word begins none of these.
func (a *Args) vector() (v vector.Vector, given bool) {
	var err error
	switch {
	case a.Word("VALUES"):
		n := a.IntOr(ErrSyntax)
		if n < 1 || n > int64(a.Left()) {
			a.Fail(ErrSyntax)
			return v, true
		}
		elems := make([]float32, n)
		for i := range elems {
			if elems[i] = float32(a.DoubleOr(errVector)); a.bad {
				return v, true
			}
		}
		v, err = vector.New(elems)
	case a.Word("FP32"):
		v, err = vector.Decode(a.Bytes())
	case a.Word("BASE64-FP32"):
		v, err = vector.DecodeText(a.Bytes())
	default:
		return v, false
	}
	if err != nil {
		a.Fail(errVector)
	}
	return v, true
}

func vectorAdd(tx *Tx, a *Args) reply.Value {
	key, id := a.Bytes(), a.Bytes()
	v, given := a.vector()
	if !given {
		a.Fail(ErrSyntax)
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	if len(id) == 0 {
		return errVectorID
	}
	x, refusal := findVectors(tx, key)
	switch {
	case refusal != nil:
		return *refusal
	case len(v.Elems) != x.Dim():
		return errDimension(x.Dim(), len(v.Elems))
	}
	e, _ := look(tx, key, func() *keyspace.Vectors { return nil })
	added := e.write().Put(keyspace.Alias(id), v)
	e.end(1, ModuleEvent, "vector.add")
	return count(added)
}

// count is 1 for true and 0 for false.
func count(yes bool) reply.Value {
	if yes {
		return reply.Int(1)
	}
	return reply.Int(0)
}

func vectorDel(tx *Tx, a *Args) reply.Value {
	key, id := a.Bytes(), keyspace.Alias(a.Bytes())
	if err, ok := a.Done(); !ok {
		return err
	}
	x, refusal := findVectors(tx, key)
	if refusal != nil {
		return *refusal
	}
	if _, had := x.Get(id); !had {
		return reply.Int(0)
	}
	e, _ := look(tx, key, func() *keyspace.Vectors { return nil })
	e.write().Delete(id)
	e.end(1, ModuleEvent, "vector.del") // the index stays when it becomes empty
	return reply.Int(1)
}

func vectorGet(tx *Tx, a *Args) reply.Value {
	key, id := a.Bytes(), keyspace.Alias(a.Bytes())
	if err, ok := a.Done(); !ok {
		return err
	}
	x, refusal := findVectors(tx, key)
	if refusal != nil {
		return *refusal
	}
	v, had := x.Get(id)
	if !had {
		return reply.Nil()
	}
	elems := make([]reply.Value, len(v.Elems))
	for i, f := range v.Elems {
		elems[i] = reply.Number(float64(f))
	}
	return reply.Array(elems...)
}

func vectorQuery(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	var most int64
	var q vector.Vector
	var hasQuery, hasProfile bool
	for a.Left() > 0 && !a.bad {
		switch {
		case most == 0 && a.Word("TOPK"):
			if most = a.IntOr(errTopK); most < 1 || most > maxNearest {
				a.Fail(errTopK)
			}
		case !hasProfile && a.Word("PROFILE"): // the search is exact: each of them is PRECISE
			if hasProfile = true; !a.Word("FAST") && !a.Word("BALANCED") && !a.Word("PRECISE") {
				a.Fail(ErrSyntax)
			}
		default:
			v, given := a.vector()
			if !given || hasQuery {
				a.Fail(ErrSyntax)
			}
			q, hasQuery = v, true
		}
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	if most == 0 || !hasQuery {
		return ErrSyntax
	}
	x, refusal := findVectors(tx, key)
	switch {
	case refusal != nil:
		return *refusal
	case len(q.Elems) != x.Dim():
		return errDimension(x.Dim(), len(q.Elems))
	case tx.Charge(vectorSteps(x)):
		return reply.Nil()
	}
	hits := x.Nearest(q, int(most))
	rows := make([]reply.Value, len(hits))
	for i, h := range hits {
		rows[i] = reply.Array(reply.Bulk(h.ID), reply.Number(h.Score))
	}
	return reply.Array(rows...)
}

// vectorSteps returns the cost of a search of x: one step for some 64 elements compared.
func vectorSteps(x *keyspace.Vectors) int64 { return int64(x.Len()) * int64(1+x.Dim()/64) }

// vectorWork is the work of a search: one step for each 256 elements of each vector, so that
// the default budget allows an index of millions.
func vectorWork(tx *Tx, argv [][]byte) int64 {
	o := tx.DB.Peek(tx.Env, argv[1])
	if o == nil {
		return 0
	}
	x, _ := o.Data().(*keyspace.Vectors)
	if x == nil {
		return 0
	}
	return int64(x.Len()) * int64(1+x.Dim()/256)
}

func vectorCount(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	o, x, ok := find[*keyspace.Vectors](tx, key)
	switch {
	case !ok:
		return ErrWrongType
	case o == nil:
		return reply.Int(0)
	}
	return reply.Int(int64(x.Len()))
}

func vectorInfo(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	o, x, ok := find[*keyspace.Vectors](tx, key)
	switch {
	case !ok:
		return ErrWrongType
	case o == nil:
		return reply.Nil()
	}
	return reply.Map(reply.Bulk("dimension"), reply.Int(int64(x.Dim())), reply.Bulk("metric"), reply.Bulk(x.Metric().String()))
}

func vectorDrop(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	if _, _, ok := find[*keyspace.Vectors](tx, key); !ok {
		return ErrWrongType
	}
	return count(tx.remove(key))
}
