import { getContainerRuntimeClient, ImageName } from 'testcontainers';
import { BrokerUnavailable } from './broker.ts';

/** Official images, used where a registry of images can be reached. */
const OFFICIAL_IMAGES = {
  rabbitmq: 'rabbitmq:4.3-management',
  postgres: 'postgres:18',
} as const;

/** One image with every broker, made by `tools/containers/build-image.sh` where no registry can be reached. */
export const LOCAL_IMAGE = 'ackord/brokers:local';

/** Longest wait for the registry to say whether it has an image. Nothing is downloaded in that time. */
const REGISTRY_PROBE_MS = 4_000;

export type Product = keyof typeof OFFICIAL_IMAGES;

/** An image and which entry points and paths it has. */
export interface BrokerImage {
  readonly name: string;
  readonly kind: 'official' | 'local';
}

/**
 * Picks the image of a product: `ACKORD_BROKERS_IMAGE` if set, else the official image if it is present or can be
 * pulled, else the local one.
 *
 * A registry that does not answer is remembered in `ACKORD_BROKERS_IMAGE`, so that it is asked once a process tree.
 *
 * @throws BrokerUnavailable no container engine answers, or there is no image and none can be pulled.
 */
export async function brokerImage(product: Product): Promise<BrokerImage> {
  const chosen = process.env['ACKORD_BROKERS_IMAGE'];
  if (chosen) return { name: chosen, kind: 'local' };

  const engine = await containerEngine();
  const official = OFFICIAL_IMAGES[product];
  if (await engine.image.exists(ImageName.fromString(official))) {
    return { name: official, kind: 'official' };
  }
  if (await pulled(engine, official)) return { name: official, kind: 'official' };
  if (!(await engine.image.exists(ImageName.fromString(LOCAL_IMAGE)))) {
    throw new BrokerUnavailable(
      `${official} is not here and cannot be pulled, and ${LOCAL_IMAGE} is not built. ` +
        'Run `npm test`, which builds it, or tools/containers/build-image.sh, ' +
        'or give URLs of running brokers (CONTRIBUTING.md, "Brokers").',
    );
  }
  process.env['ACKORD_BROKERS_IMAGE'] = LOCAL_IMAGE;
  return { name: LOCAL_IMAGE, kind: 'local' };
}

export type ContainerEngine = Awaited<ReturnType<typeof getContainerRuntimeClient>>;

/**
 * The container engine that testcontainers finds.
 *
 * @throws BrokerUnavailable none answers.
 */
export async function containerEngine(): Promise<ContainerEngine> {
  try {
    return await getContainerRuntimeClient();
  } catch (cause) {
    throw new BrokerUnavailable(
      'No container engine answers. Start Docker (or Podman with its Docker socket), run `npm test` as root on ' +
        'Debian, which installs one, or give URLs of running brokers (CONTRIBUTING.md, "Brokers").',
      { cause },
    );
  }
}

/** Pulls an image if its registry answers; false, and why on standard error, if the download then fails. */
async function pulled(engine: ContainerEngine, image: string): Promise<boolean> {
  if (!(await canBePulled(engine, image))) return false;
  process.stderr.write(`Pulling ${image} (once)…\n`);
  try {
    await engine.image.pull(ImageName.fromString(image));
    return true;
  } catch (error) {
    process.stderr.write(`${image} could not be pulled: ${String(error)}\n`);
    return false;
  }
}

async function canBePulled(engine: ContainerEngine, image: string): Promise<boolean> {
  const asked = engine.container.dockerode
    .getImage(image)
    .distribution()
    // Any refusal means the same here: the image has to come from somewhere else.
    .then(
      () => true,
      () => false,
    );
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((answer) => {
    timer = setTimeout(answer, REGISTRY_PROBE_MS, false);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}
