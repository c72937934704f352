package archive

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	bucketScheme = "s3://"
	// defaultEndpoint is the endpoint of buckets, unless the environment or the location names another.
	defaultEndpoint = "https://s3.amazonaws.com"
	// bucketPart is the size of the parts in which a backup is sent, in bytes. One part is held in memory; a bucket takes
	// 10,000 of them, so a backup may have 160 GB.
	bucketPart = 16 << 20
)

// bucket is an archive in a bucket that speaks S3.
type bucket struct {
	client       *minio.Client
	name, prefix string
	location     string
}

// openBucket takes the bucket and the prefix of names from s3://BUCKET/PREFIX, and the server from the parameter endpoint,
// or AWS_ENDPOINT_URL_S3, or AWS_ENDPOINT_URL. Credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the
// files of the AWS tools, or the machine's role, in this order.
func openBucket(location string) (*bucket, error) {
	u, err := url.Parse(location)
	if err != nil || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("%w: %q: write %sBUCKET/PREFIX", ErrLocation, location, bucketScheme)
	}
	query := u.Query()
	endpoint := cmp.Or(query.Get("endpoint"), os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), defaultEndpoint)
	server, err := url.Parse(endpoint)
	if err != nil || server.Host == "" || server.Scheme != "http" && server.Scheme != "https" {
		return nil, fmt.Errorf("%w: the endpoint %q has to be like %s", ErrLocation, endpoint, defaultEndpoint)
	}
	region := cmp.Or(query.Get("region"), os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	client, err := minio.New(server.Host, &minio.Options{
		Secure: server.Scheme == "https", Region: region,
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{Client: &http.Client{Transport: http.DefaultTransport}},
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrLocation, location, err)
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &bucket{client: client, name: u.Host, prefix: prefix, location: bucketScheme + u.Host + "/" + prefix}, nil
}

func (b *bucket) String() string { return b.location }

// Put sends parts; the object appears when the last one has come.
func (b *bucket) Put(ctx context.Context, name string, r io.Reader) error {
	_, err := b.client.PutObject(ctx, b.name, b.prefix+name, r, -1, minio.PutObjectOptions{
		ContentType: "application/octet-stream", PartSize: bucketPart, NumThreads: 1, SendContentMd5: true, DisableContentSha256: true, // one sum is enough
	})
	return explain(err)
}

func (b *bucket) Names(ctx context.Context) (names []string, err error) {
	for o := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix}) {
		if o.Err != nil {
			return nil, explain(o.Err)
		}
		names = append(names, strings.TrimPrefix(o.Key, b.prefix))
	}
	return names, nil
}

func (b *bucket) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	o, err := b.client.GetObject(ctx, b.name, b.prefix+name, minio.GetObjectOptions{})
	if err == nil {
		_, err = o.Stat() // GetObject sends no request
	}
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return nil, fmt.Errorf("%w: %s in %s", ErrNotThere, name, b)
	}
	return o, explain(err)
}

func (b *bucket) Remove(ctx context.Context, name string) error {
	return explain(b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{}))
}

// explain says what to look at where a bucket refuses the credentials: servers name neither the variables nor the files.
func explain(err error) error {
	const source = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the files of the AWS tools, or the machine's role"
	switch minio.ToErrorResponse(err).Code {
	case minio.InvalidAccessKeyID:
		return fmt.Errorf("the server does not know the access key; it is taken from %s (%w)", source, err)
	case minio.SignatureDoesNotMatch:
		return fmt.Errorf("the secret key does not belong to the access key; they are taken from %s (%w)", source, err)
	case minio.AccessDenied:
		return fmt.Errorf("the credentials may not do that, or there are none; they are taken from %s (%w)", source, err)
	}
	return err
}
