package requests

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"
)

// WithPlugin returns a configuration of the same requests that reports a credential plugin (users[].user.exec of the kubeconfig)
// that takes long, as the plugin may wait for a login or for a network of its own. There is no time limit, because a login takes
// as long as the user does. client-go runs the plugin around every wrapper of a configuration: that is why the transport is made
// here, with the TLS settings and credentials of config, and the returned configuration has none.
func (l *Limits) WithPlugin(config *rest.Config) (*rest.Config, error) {
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	made, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host: server.String(), APIPath: config.APIPath, ContentConfig: config.ContentConfig, UserAgent: config.UserAgent,
		QPS: config.QPS, Burst: config.Burst, WarningHandler: config.WarningHandler,
		Transport: &pluginTransport{l, config.ExecProvider.Command, made},
	}, nil
}

// pluginTransport is around the transport that runs a credential plugin, which is around transport.
type pluginTransport struct {
	limits *Limits
	plugin string
	next   http.RoundTripper
}

type pluginKey struct{}

func (t *pluginTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	stop := t.limits.After(t.limits.Notice, t.notice)
	defer stop() // The plugin may fail.
	return t.next.RoundTrip(r.WithContext(context.WithValue(r.Context(), pluginKey{}, stop)))
}

// hasCredentials ends the wait for the credential plugin: the request is being sent.
func hasCredentials(r *http.Request) {
	if stop, is := r.Context().Value(pluginKey{}).(func()); is {
		stop()
	}
}

func (t *pluginTransport) notice() {
	t.limits.printOnce(fmt.Sprintf("Waiting for the credential plugin %s, which the kubeconfig names.", t.plugin))
}
