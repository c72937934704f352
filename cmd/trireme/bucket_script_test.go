package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/rogpeppe/go-internal/testscript"
)

// The credentials that the bucket of a script takes.
const bucketKey, bucketSecret = "id", "secret"

// bucket starts an S3 server with a bucket of that name, and sets the variables of the AWS tools to it. Like a real one, it
// refuses what is not signed by its key and its secret.
func bucket(ts *testscript.TestScript, _ bool, args []string) {
	backend := s3mem.New()
	ts.Check(backend.CreateBucket(args[0]))
	store := gofakes3.New(backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch a := authorizationOf(r); {
		case a.signature == "":
			refuseBucket(w, "AccessDenied", "Access Denied.")
		case a.key != bucketKey:
			refuseBucket(w, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.")
		case a.signature != a.sign(r, bucketSecret):
			refuseBucket(w, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided.")
		default:
			store.ServeHTTP(w, r)
		}
	}))
	ts.Defer(server.Close)
	ts.Setenv("AWS_ENDPOINT_URL_S3", server.URL)
	ts.Setenv("AWS_REGION", "eu-north-1")
	ts.Setenv("AWS_ACCESS_KEY_ID", bucketKey)
	ts.Setenv("AWS_SECRET_ACCESS_KEY", bucketSecret)
}

func refuseBucket(w http.ResponseWriter, code, text string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(http.StatusForbidden)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, text)
}

// authorization holds the fields of a request's Authorization header, in version 4 of AWS signatures.
type authorization struct {
	key, scope, signature string
	headers               []string // that are signed
}

func authorizationOf(r *http.Request) (a authorization) {
	rest, _ := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	for part := range strings.SplitSeq(rest, ",") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(part), "="); name {
		case "Credential":
			a.key, a.scope, _ = strings.Cut(value, "/")
		case "SignedHeaders":
			a.headers = strings.Split(value, ";")
		case "Signature":
			a.signature = value
		}
	}
	return a
}

// sign is the signature that the request has to have.
func (a authorization) sign(r *http.Request, secret string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n%s\n", r.Method, r.URL.EscapedPath(), strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20"))
	for _, name := range a.headers {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		fmt.Fprintf(&b, "%s:%s\n", name, strings.TrimSpace(value))
	}
	fmt.Fprintf(&b, "\n%s\n%s", strings.Join(a.headers, ";"), r.Header.Get("X-Amz-Content-Sha256"))
	request := sha256.Sum256([]byte(b.String()))
	key := []byte("AWS4" + secret)
	for part := range strings.SplitSeq(a.scope, "/") {
		key = mac(key, part)
	}
	return hex.EncodeToString(mac(key, fmt.Sprintf("AWS4-HMAC-SHA256\n%s\n%s\n%x", r.Header.Get("X-Amz-Date"), a.scope, request)))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
