package soak

import (
	"context"
	"crypto/tls"
	"crypto/x509/pkix"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/testcluster"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/troubles"
)

// The validity of certificates: of one that expires soon, and of others.
const shortLived, longLived = 5 * time.Second, 24 * time.Hour

// expireCertificate starts a controller with a certificate that soon expires, and is renewed only some time later.
// client-go reads the file for each new connection, and every five minutes; the API server makes clients reconnect at
// random.
func (d *disturber) expireCertificate(ctx context.Context, lasts time.Duration, _ *rand.Rand) (refused int, err error) {
	if err := issueFor(d.certificate, shortLived); err != nil {
		return 0, err
	}
	p := d.controllers.replace(cluster.Binary)
	pause(ctx, shortLived+lasts)
	if p != nil {
		refused = strings.Count(p.Stderr.String(), "Unauthorized")
	}
	return refused, issueFor(d.certificate, longLived)
}

// newCertificate creates a certificate for the account of config/default, and a kubeconfig with it.
func newCertificate(dir string) (c *troubles.Certificate, kubeconfig string, err error) {
	pki := filepath.Join(dir, "kwok", "clusters", "batchjob", "pki")
	issuer, err := tls.LoadX509KeyPair(filepath.Join(pki, "ca.crt"), filepath.Join(pki, "ca.key"))
	if err != nil {
		return nil, "", err
	}
	config, err := clientcmd.LoadFromFile(cluster.AccountKubeconfig)
	if err != nil {
		return nil, "", err
	}
	groups := []string{"system:serviceaccounts", "system:serviceaccounts:" + testcluster.SystemNamespace}
	c = &troubles.Certificate{
		File: filepath.Join(dir, "soak.pem"), Issuer: issuer, Subject: pkix.Name{CommonName: testcluster.SystemUser, Organization: groups},
	}
	current := config.Contexts[config.CurrentContext]
	config.AuthInfos[current.AuthInfo] = &clientcmdapi.AuthInfo{ClientCertificate: c.File, ClientKey: c.File}
	kubeconfig = filepath.Join(dir, "soak-kubeconfig")
	return c, kubeconfig, errors.Join(issueFor(c, longLived), clientcmd.WriteToFile(*config, kubeconfig))
}

func issueFor(c *troubles.Certificate, valid time.Duration) error {
	now := time.Now()
	return c.Issue(now, now.Add(valid))
}
