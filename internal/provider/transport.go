package provider

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

// Network says how to get out: through which proxy, trusting whom.
type Network struct {
	Proxy func(*http.Request) (*url.URL, error) // nil means the environment's
	CA    []string                              // PEM files of authorities to trust besides the system's
}

// NewTransport makes a transport that can be shared by several providers.
func NewTransport(n Network) (http.RoundTripper, error) { return n.transport() }

func (n Network) transport() (*http.Transport, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(n.CA) > 0 {
		pool, err := authorities(n.CA)
		if err != nil {
			return nil, err
		}
		conf.RootCAs = pool
	}
	proxy := n.Proxy
	if proxy == nil {
		proxy = http.ProxyFromEnvironment
	}
	return &http.Transport{
		Proxy:               proxy,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSClientConfig:     conf,
		ForceAttemptHTTP2:   true,
		DisableCompression:  true, // a compressed stream comes in lumps
		MaxIdleConnsPerHost: 4,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 30 * time.Second,
		// A connection that died behind a sleeping laptop is found by asking.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 20 * time.Second, PingTimeout: 10 * time.Second},
	}, nil
}

// authorities are the system's and those in the files.
func authorities(files []string) (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	for _, f := range files {
		pem, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("reading the certificates to trust: %w", err)
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("reading the certificates to trust: %s holds none in PEM form", f)
		}
	}
	return pool, nil
}

// sameOrigin follows a redirect that repeats the request at the same server.
// Any other would carry the key, or the conversation, to where nobody sent it;
// its response is reported as it is.
func sameOrigin(next *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 3 || next.Method != first.Method || next.URL.Host != first.URL.Host || next.URL.Scheme != first.URL.Scheme {
		return http.ErrUseLastResponse
	}
	return nil
}
