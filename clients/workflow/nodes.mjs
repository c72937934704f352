// What the tests of this folder need of the nodes.
//
//   TRIREME_URLS            base URLs of the nodes
//   TRIREME_MESSAGES_TOKEN  the token of /v2
//   TRIREME_TOKEN           the Standard token
export const urls = process.env.TRIREME_URLS.split(",");
export const messages = process.env.TRIREME_MESSAGES_TOKEN;
export const standard = process.env.TRIREME_TOKEN;
export const node = () => urls[Math.floor(Math.random() * urls.length)];
export const ask = async (method, path, token, { body, headers } = {}) => {
  const answer = await fetch(node() + path, { method, body, headers: { Authorization: `Bearer ${token}`, ...headers } });
  const text = await answer.text();
  return { status: answer.status, body: text && JSON.parse(text) };
};

export const until = async (look, good) => {
  for (const end = Date.now() + 60_000; ; await new Promise((done) => setTimeout(done, 20))) {
    const got = await look();
    if (good(got)) return got;
    if (Date.now() > end) throw new Error(`it stays ${JSON.stringify(got)}`);
  }
};
