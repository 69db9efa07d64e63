package troubles

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"path/filepath"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// authority returns a certificate authority, and a pool of authorities that trusts it.
func authority(t *testing.T, now time.Time) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	assert.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	assert.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	assert.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// A certificate identifies its subject to clients that trust the authority until it expires, and each certificate has
// another key (SOK-01).
func TestCertificatesExpire(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	issuer, trusted := authority(t, now)
	c := &Certificate{File: filepath.Join(t.TempDir(), "client.pem"), Subject: pkix.Name{CommonName: "user"}, Issuer: issuer}
	var before *x509.Certificate
	for _, valid := range []time.Duration{5 * time.Second, 10 * time.Minute} {
		assert.NoError(t, c.Issue(now, now.Add(valid)))
		pair, err := tls.LoadX509KeyPair(c.File, c.File)
		assert.NoError(t, err)
		for at, want := range map[time.Duration]bool{0: true, valid - time.Second: true, valid + time.Second: false} {
			_, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: trusted, CurrentTime: now.Add(at), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
			if (err == nil) != want || pair.Leaf.Subject.CommonName != "user" {
				t.Errorf("valid for %v, after %v: %v", valid, at, err)
			}
		}
		if before != nil && before.PublicKey.(*ecdsa.PublicKey).Equal(pair.Leaf.PublicKey) {
			t.Error("the new certificate has the old key")
		}
		before = pair.Leaf
	}
}
