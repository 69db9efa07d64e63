package meaning

import "github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"

// Webhooks that the API server cannot call.
const (
	NoEndpoints TroubleKind = "NoEndpoints" // the webhook's Service has no endpoints
	NoService   TroubleKind = "NoService"   // the webhook's Service does not exist
	Refused     TroubleKind = "Refused"     // the webhook refuses connections
	NoAnswer    TroubleKind = "NoAnswer"    // the webhook does not respond in time
	Certificate TroubleKind = "Certificate" // the certificate of the webhook is not accepted
	NoHost      TroubleKind = "NoHost"      // the webhook's name has no address
)

// webhooks are messages of the API server about a webhook that it cannot call.
var webhooks = []row[TroubleKind]{
	{
		kind:     NoEndpoints,
		patterns: re(`no endpoints available for service "(?P<name>[^"]+)"`),
		text:     "cannot be called: {service} has no endpoints",
		advice:   "start the pods of {service}, which serve the webhook, or remove the webhook if nothing should serve it{?; the controller then retries automatically}",
	},
	{
		kind:     NoService,
		patterns: re(`services? "(?P<name>[^"]+)" not found`),
		text:     "cannot be called: {service} does not exist",
		advice:   "create {service}, or remove the webhook if nothing should serve it{?; the controller then retries automatically}",
	},
	{
		kind:     Refused,
		patterns: re(`(?P<detail>dial tcp .*: connection refused)|connection refused`),
		keepsEnd: true,
		text:     "cannot be called: {service} refuses connections, as if none of its pods is ready",
		advice:   "check that the pods of {service}, which serve the webhook, are running{?; the controller then retries automatically}",
	},
	{
		kind:     Certificate,
		patterns: re(`(?P<detail>x509: certificate has expired or is not yet valid|x509: .+)`, `tls: `),
		keepsEnd: true,
		text:     "cannot be called: the certificate of {service} is rejected",
		advice:   "correct the certificate of {service}, or the caBundle of the webhook configuration{?; the controller then retries automatically}",
	},
	{
		kind:     NoHost,
		patterns: re(`(?P<detail>dial tcp: .*no such host)|no such host|name resolution|server misbehaving`),
		keepsEnd: true,
		text:     "cannot be called: the name of {service} has no address",
		advice:   "correct the URL of the webhook configuration, or the DNS of the API server{?; the controller then retries automatically}",
	},
	{
		kind:     NoAnswer,
		patterns: re(`(?i)context deadline exceeded|i/o timeout|Client\.Timeout|TLS handshake timeout|request canceled`),
		keepsEnd: true,
		complete: true, // The message only says that the API server timed out.
		text:     "does not answer in time{in service}",
		advice:   "check the pods of {service}, which serve the webhook, and the network between them and the API server{?; the controller then retries automatically}",
	},
}

// webhookService matches the Service in the URL of a webhook.
var webhookService = lazyregexp.New(`Post "?https://([-a-z0-9]+)\.([-a-z0-9]+)\.svc\b`)

// OfWebhook returns the reason why the API server cannot call a webhook; nil if it is unknown. Its Name is the Service.
func OfWebhook(message string) *Trouble {
	t := troubleIn(webhooks, message)
	if m := webhookService.FindStringSubmatch(message); t != nil && m != nil {
		if t.Namespace = m[2]; t.Name == "" {
			t.Name = m[1]
		}
	}
	return t
}
