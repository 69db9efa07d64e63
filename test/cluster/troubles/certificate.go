package troubles

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"time"
)

// Certificate is a client certificate.
type Certificate struct {
	// File has both the certificate and its key, so that they are always read together.
	File string
	// Subject is the user, with the groups as organizations.
	Subject pkix.Name
	// Issuer is the certificate authority that the API server trusts.
	Issuer tls.Certificate
}

// Issue replaces the file with a new key and a certificate that expires at until.
func (c *Certificate) Issue(now, until time.Time) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      c.Subject,
		NotBefore:    now.Add(-time.Minute),
		NotAfter:     until,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	issuer, err := x509.ParseCertificate(c.Issuer.Certificate[0])
	if err != nil {
		return err
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, c.Issuer.PrivateKey)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	content := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
	if err := os.WriteFile(c.File+".new", content, 0o600); err != nil {
		return err
	}
	return os.Rename(c.File+".new", c.File)
}
