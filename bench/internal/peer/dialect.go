package peer

import (
	"github.com/trireme-dev/trireme/bench/internal/load"
)

// ValueSize is the length of every value written, in bytes (performance.md:
// keys of about 16, values of 64 bytes).
const ValueSize = 64

// KeySize is the length of a key of triremeDialect, in bytes.
const KeySize = 13

// fillRows is the number of writes in one request while keys are loaded; below
// etcd's limit of 128 operations a transaction.
const fillRows = 100

// Dialect says how to write and read keys over one server's HTTP interface.
// The Specs hold method, body, check and, in Targets, the path alone.
type Dialect struct {
	Set  load.Spec // one write of a random key
	Get  load.Spec // one linearizable read of a random key, which must exist
	Fill load.Spec // many writes of keys in order
}

// At returns spec with its path behind each of the base URLs.
func At(spec load.Spec, bases ...string) load.Spec {
	path := spec.Targets[0]
	spec.Targets = make([]string, len(bases))
	for i, b := range bases {
		spec.Targets[i] = b + path
	}
	return spec
}

// triremeDialect is the JSON array form of the key-value gateway.
func triremeDialect(token string) Dialect {
	const set, ok = `["SET","k{key}","{val}"]`, `{"result":"OK"}`
	post := load.Spec{Method: "POST", Bearer: token, Value: ValueSize}
	d := Dialect{Set: post, Get: post, Fill: post}
	d.Set.Targets, d.Set.Body, d.Set.Check = []string{"/"}, set, load.Check{Prefix: ok, Length: len(ok)}
	d.Get.Targets, d.Get.Body = []string{"/"}, `["GET","k{key}"]`
	d.Get.Check = load.Check{Prefix: `{"result":"`, Length: len(`{"result":""}`) + ValueSize}
	d.Fill.Targets, d.Fill.Body, d.Fill.Rows = []string{"/pipeline"}, set, fillRows
	d.Fill.Check = load.Check{Repeat: ok}
	return d
}

// etcdDialect is etcd's HTTP gateway, where keys and values are base64: 88
// characters are 66 bytes without padding, the nearest to ValueSize.
func etcdDialect() Dialect {
	const put = `{"key":"{key}","value":"{val64}"}`
	post := load.Spec{Method: "POST", Value: 88}
	d := Dialect{Set: post, Get: post, Fill: post}
	d.Set.Targets, d.Set.Body, d.Set.Check = []string{"/v3/kv/put"}, put, load.Check{Prefix: `{"header":`}
	d.Get.Targets, d.Get.Body = []string{"/v3/kv/range"}, `{"key":"{key}"}`
	d.Get.Check = load.Check{Prefix: `{"header":`, Contains: `"count":"1"`}
	d.Fill.Targets, d.Fill.Body, d.Fill.Rows = []string{"/v3/kv/txn"}, `{"requestPut":`+put+`}`, fillRows
	d.Fill.Open, d.Fill.Close = `{"success":[`, `]}`
	d.Fill.Check = load.Check{Contains: `"succeeded":true`}
	return d
}

// webdisDialect is webdis's path form, its fastest. It has no pipelines, so
// Fill writes one key a request.
func webdisDialect() Dialect {
	const ok = `{"SET":[true,"OK"]}`
	get := load.Spec{Method: "GET", Value: ValueSize}
	d := Dialect{Set: get, Get: get, Fill: get}
	d.Set.Targets, d.Set.Check = []string{"/SET/k{key}/{val}"}, load.Check{Prefix: ok, Length: len(ok)}
	d.Get.Targets = []string{"/GET/k{key}"}
	d.Get.Check = load.Check{Prefix: `{"GET":"`, Length: len(`{"GET":""}`) + ValueSize}
	d.Fill.Targets, d.Fill.Check = d.Set.Targets, d.Set.Check
	return d
}
