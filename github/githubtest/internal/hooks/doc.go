// Package hooks sends the webhooks of a fake GitHub: payloads wait, and are delivered in order, signed. A
// webhook can be delivered again. The API lists each attempt, by the same requests as on GitHub. The package
// does not know why a webhook is sent or what is in it. Start at [Outbox].
package hooks
