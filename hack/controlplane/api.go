//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// api is a client of the cluster's API server: JSON or YAML over HTTPS, with the
// administrator's certificate, without client-go and its start-up time.
type api struct {
	server string
	client *http.Client
}

var serverLine = regexp.MustCompile(`(?m)^\s*server:\s*(\S+)\s*$`)

// newAPI reads the address from the kubeconfig and the certificates from pki.
func newAPI(kubeconfig, pki string) (*api, error) {
	data, err := os.ReadFile(kubeconfig)
	if err != nil {
		return nil, err
	}
	match := serverLine.FindSubmatch(data)
	if match == nil {
		return nil, fmt.Errorf("%s names no server", kubeconfig)
	}
	cert, err := tls.LoadX509KeyPair(filepath.Join(pki, "admin.crt"), filepath.Join(pki, "admin.key"))
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(filepath.Join(pki, "ca.crt"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	// No proxy: the server is on this machine, whatever the environment says.
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{cert}}}
	return &api{server: string(match[1]), client: &http.Client{Transport: transport, Timeout: 10 * time.Second}}, nil
}

// do sends body and decodes the response into result, unless result is nil.
func (a *api) do(ctx context.Context, method, path, contentType string, body []byte, result any) error {
	req, err := http.NewRequestWithContext(ctx, method, a.server+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Accept", "application/json")
	resp, err := a.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, message(data))
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(data, result)
}

// message returns the message of a Status object, or the response itself.
func message(data []byte) string {
	var status struct{ Message string }
	if json.Unmarshal(data, &status) == nil && status.Message != "" {
		return status.Message
	}
	return strings.TrimSpace(string(data))
}

func (a *api) get(ctx context.Context, path string, result any) error {
	return a.do(ctx, http.MethodGet, path, "application/json", nil, result)
}

// apply creates or replaces an object, server-side.
func (a *api) apply(ctx context.Context, path string, object []byte) error {
	return a.do(ctx, http.MethodPatch, path+"?fieldManager=controlplane&force=true", "application/apply-patch+yaml", object, nil)
}

// serving returns an error unless the API server is ready.
func (a *api) serving(ctx context.Context) error {
	return a.do(ctx, http.MethodGet, "/readyz", "application/json", nil, nil)
}

// nodesReady returns an error unless at least want nodes are Ready.
func (a *api) nodesReady(ctx context.Context, want int) error {
	var list struct {
		Items []struct {
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
	}
	if err := a.get(ctx, "/api/v1/nodes", &list); err != nil {
		return err
	}
	ready := 0
	for _, node := range list.Items {
		for _, c := range node.Status.Conditions {
			if c.Type == "Ready" && c.Status == "True" {
				ready++
			}
		}
	}
	if ready < want {
		return fmt.Errorf("%d of %d nodes are Ready", ready, want)
	}
	return nil
}

// podsGetNodes returns an error unless the API server would assign a node to a new pod. That requires the default
// service account, and the policy to be in force, which takes the API server a moment.
func (a *api) podsGetNodes(ctx context.Context) error {
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"probe","namespace":"default"},` +
		`"spec":{"containers":[{"name":"probe","image":"probe"}]}}`
	var created struct{ Spec struct{ NodeName string } }
	if err := a.do(ctx, http.MethodPost, "/api/v1/namespaces/default/pods?dryRun=All", "application/json", []byte(pod), &created); err != nil {
		return err
	}
	if created.Spec.NodeName == "" {
		return errors.New("the policy that assigns nodes is not in force")
	}
	return nil
}
