// Webhook stands for a function.
package main

func main() { println("webhook") }
