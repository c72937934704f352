package main

import (
	"net/http/httptest"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/rogpeppe/go-internal/testscript"
)

// bucket starts an S3 server with a bucket of that name, and sets the variables of the AWS tools to it.
func bucket(ts *testscript.TestScript, _ bool, args []string) {
	backend := s3mem.New()
	ts.Check(backend.CreateBucket(args[0]))
	server := httptest.NewServer(gofakes3.New(backend).Server())
	ts.Defer(server.Close)
	ts.Setenv("AWS_ENDPOINT_URL_S3", server.URL)
	ts.Setenv("AWS_REGION", "eu-north-1")
	ts.Setenv("AWS_ACCESS_KEY_ID", "id")
	ts.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
}
