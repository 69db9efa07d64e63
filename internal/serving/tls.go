package serving

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/client-go/util/cert"
)

// NewTLS returns a configuration with the key pair in the two files, which is reloaded when either changes; or, if both names
// are "", with a self-signed certificate for the hosts.
func NewTLS(certFile, keyFile string, hosts ...string) (*tls.Config, error) {
	k := &keyPair{certFile: certFile, keyFile: keyFile}
	if certFile != "" {
		if err := k.load(); err != nil {
			return nil, err
		}
	} else {
		certificate, key, err := cert.GenerateSelfSignedCertKey("localhost", nil, hosts)
		if err != nil {
			return nil, fmt.Errorf("making a certificate: %w", err)
		}
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("making a certificate: %w", err)
		}
		k.loaded = &pair
	}
	// HTTP/2 is off: scrapes do not need it, and it has had many vulnerabilities.
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: k.certificate}, nil
}

// keyPair is a certificate whose files may change.
type keyPair struct {
	certFile, keyFile string

	mu      sync.Mutex
	loaded  *tls.Certificate
	changed [2]time.Time
}

// certificate is called for each handshake. If the files cannot be read, or are being changed, it returns the last good pair.
func (k *keyPair) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.certFile != "" && k.modified() != k.changed {
		_ = k.load()
	}
	return k.loaded, nil
}

func (k *keyPair) load() error {
	changed := k.modified()
	pair, err := tls.LoadX509KeyPair(k.certFile, k.keyFile)
	if err != nil {
		return fmt.Errorf("reading the TLS certificate %s and its key %s: %w", k.certFile, k.keyFile, err)
	}
	k.loaded, k.changed = &pair, changed
	return nil
}

// modified returns the modification times of the files. For a mounted secret, the target of a link changes; Stat follows the
// link.
func (k *keyPair) modified() (at [2]time.Time) {
	for i, file := range []string{k.certFile, k.keyFile} {
		if info, err := os.Stat(file); err == nil {
			at[i] = info.ModTime()
		}
	}
	return at
}
